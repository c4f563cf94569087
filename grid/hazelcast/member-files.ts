import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files that a member is made of, and the version of Hazelcast that they name. */
export interface MemberFiles {
  readonly pom: string;
  readonly config: string;
  readonly version: string;
}

/** The files beside this one, or, when this one is built, those of the package that it belongs to. */
export function memberFiles(): MemberFiles {
  const here = dirname(fileURLToPath(import.meta.url));
  let folder = join(here, 'member');
  if (!existsSync(folder)) {
    let root = here;
    while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
    folder = join(root, 'grid', 'hazelcast', 'member');
  }
  const pom = join(folder, 'pom.xml');
  const version = /<hazelcast\.version>([^<]+)</.exec(readFileSync(pom, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${pom} names no hazelcast.version`);
  return { pom, config: join(folder, 'hazelcast.yaml'), version };
}
