/** The names of an entry that an invalidation may mark; an `Entry` has them all. */
export interface LedgerNames {
  readonly tenant: string;
  readonly namespace: string;
  readonly tags: readonly string[];
  readonly model: string;
  readonly key: string;
}

/** A name's parts. `other` stands for names that no entry bears (`control/…`, and kinds that a newer version may add). */
export type ParsedName =
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: 'namespace'; readonly tenant: string; readonly namespace: string }
  | { readonly kind: 'tag'; readonly tenant: string; readonly tag: string }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'entry'; readonly key: string }
  | { readonly kind: 'other' };

/** The ledger name of everything that a tenant has. */
export function tenantName(tenant: string): string {
  return `tenant/${escapePart(tenant)}`;
}

/** The ledger name of one namespace of a tenant. */
export function namespaceName(tenant: string, namespace: string): string {
  return `${escapePart(tenant)}/namespace/${escapePart(namespace)}`;
}

/** The ledger name of one tag of a tenant. */
export function tagName(tenant: string, tag: string): string {
  return `${escapePart(tenant)}/tag/${escapePart(tag)}`;
}

/** The ledger name of all answers of an effective model, whatever the tenant. */
export function modelName(model: string): string {
  return `model/${escapePart(model)}`;
}

/** The ledger name of one entry. */
export function entryName(key: string): string {
  return `entry/${escapePart(key)}`;
}

/** The ledger name of a control record (an alias, a domain state); no entry bears it. */
export function controlName(record: string): string {
  return `control/${escapePart(record)}`;
}

/** Takes a name apart; the number of parts tells a tenant called `model` from a model. */
export function parseLedgerName(name: string): ParsedName {
  const parts = name.split('/');
  const [first, second, third] = parts;
  if (parts.length === 2 && first !== undefined && second !== undefined) {
    if (first === 'tenant') return { kind: 'tenant', tenant: unescapePart(second) };
    if (first === 'model') return { kind: 'model', model: unescapePart(second) };
    if (first === 'entry') return { kind: 'entry', key: unescapePart(second) };
  }
  if (parts.length === 3 && first !== undefined && third !== undefined) {
    const tenant = unescapePart(first);
    if (second === 'namespace') return { kind: 'namespace', tenant, namespace: unescapePart(third) };
    if (second === 'tag') return { kind: 'tag', tenant, tag: unescapePart(third) };
  }
  return { kind: 'other' };
}

function escapePart(part: string): string {
  if (!part.includes('/') && !part.includes('%')) return part;
  return part.replaceAll('%', '%25').replaceAll('/', '%2F');
}

function unescapePart(part: string): string {
  if (!part.includes('%')) return part;
  return part.replaceAll('%2F', '/').replaceAll('%25', '%');
}
