import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the package says of itself. */
export interface PackageInfo {
  /** Folder of package.json. */
  readonly root: string;
  readonly version: string;
  /** Least Node.js version, as numbers. */
  readonly nodeMin: readonly number[];
}

/** Reads the package.json that this file belongs to, built or not. */
export function packageInfo(): PackageInfo {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly engines: { readonly node: string };
  };
  return { root, version, nodeMin: (engines.node.match(/\d+/g) ?? []).map(Number) };
}

/** True when a version is at least another; missing parts count as 0. */
export function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
  for (let part = 0; part < Math.max(version.length, least.length); part += 1) {
    const difference = (version[part] ?? 0) - (least[part] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
