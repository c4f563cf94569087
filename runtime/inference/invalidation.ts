import { RepriseError } from '../errors.ts';
import { decodeEntry } from '../cache/entry-codec.ts';
import { entryName, modelName, namespaceName, tagName, tenantName } from '../cache/ledger-names.ts';
import type { Ledger } from '../cache/ledger.ts';
import type { Tiers } from '../cache/tiers.ts';
import type { CallOptions } from '../ports/call-options.ts';
import type { Clock } from '../ports/clock.ts';
import type { Entry } from '../ports/entry.ts';
import type { Grid } from '../ports/grid.ts';
import { isName, NAME_RULE } from '../ports/names.ts';
import type { InvalidateReply, InvalidateRequest } from '../ports/service.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import type { SemanticMatcher } from '../semantic/semantic-matcher.ts';
import { requireRole } from './roles.ts';

const PAGE_ITEMS = 256;
const TENANT = /^[^\p{C}]{1,256}$/u;

export interface InvalidationDeps {
  readonly clock: Clock;
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly tiers: Tiers;
  readonly semantic: SemanticMatcher | undefined;
  readonly telemetry: Telemetry;
}

export interface InvalidationOptions {
  readonly stalenessBoundMs: number;
  readonly timeoutMs: number;
  readonly purgeTimeoutMs: number;
  /** Who obeys: every node of the grid, or this one only where the grid is in its process. */
  readonly reach: InvalidateReply['reach'];
}

/** Invalidation by entry, tag, namespace, model or tenant: one mark in the ledger, whatever the number of entries. */
export class Invalidation {
  readonly #deps: InvalidationDeps;
  readonly #options: InvalidationOptions;

  constructor(deps: InvalidationDeps, options: InvalidationOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async invalidate(request: InvalidateRequest): Promise<InvalidateReply> {
    const { clock, ledger } = this.#deps;
    requireRole(request.identity, 'write', 'Invalidate');
    const options: CallOptions = { deadlineAtMs: clock.monotonicMs() + this.#options.timeoutMs };
    const name = await this.#name(request, options);
    const sequence = await ledger.append(name, request.invalidation, options);
    const removedEntries = request.purge ? await this.#purge(request) : 0;
    return { sequence, stalenessBoundMs: this.#options.stalenessBoundMs, reach: this.#options.reach, removedEntries };
  }

  /** The ledger name, after checking that the caller may mark it. */
  async #name(request: InvalidateRequest, options: CallOptions): Promise<string> {
    const { target, identity } = request;
    const tenant = request.tenant ?? identity.tenant;
    if (tenant !== identity.tenant) requireRole(identity, 'admin', "Invalidate in another tenant's name");
    switch (target.kind) {
      case 'tag':
        return tagName(tenant, checked(target.tag, 'tag'));
      case 'namespace':
        return namespaceName(tenant, checked(target.namespace, 'namespace'));
      case 'tenant':
        if (target.tenant !== identity.tenant) requireRole(identity, 'admin', 'Invalidate another tenant');
        return tenantName(checkedTenant(target.tenant));
      case 'model':
        requireRole(identity, 'admin', 'Invalidate by model, which reaches every tenant,');
        if (target.model === '') throw new RepriseError('invalid_request', 'Name the model.', { param: 'model' });
        return modelName(target.model);
      case 'entry':
        await this.#ownEntry(target.entryId, request, options);
        return entryName(target.entryId);
    }
  }

  async #ownEntry(entryId: string, request: InvalidateRequest, options: CallOptions): Promise<void> {
    if (!/^[0-9a-f]{64}$/.test(entryId)) {
      throw new RepriseError('invalid_request', 'An entry id is 64 hex characters, as in x-reprise-entry.', {
        param: 'entry',
      });
    }
    const entry = await this.#deps.tiers.peek(entryId, options);
    if (entry !== undefined && (entry.tenant === request.identity.tenant || request.identity.role === 'admin')) return;
    if (entry === undefined && request.identity.role === 'admin') return;
    throw new RepriseError('entry_not_found', 'There is no such entry.', { param: 'entry' });
  }

  /** Removes the bytes too: by key, or by a walk over all entries. Bounded by a deadline; what is left is invalid anyway. */
  async #purge(request: InvalidateRequest): Promise<number> {
    const { clock, tiers } = this.#deps;
    const options: CallOptions = { deadlineAtMs: clock.monotonicMs() + this.#options.purgeTimeoutMs };
    const { target } = request;
    if (target.kind === 'entry') {
      const entry = await tiers.peek(target.entryId, options);
      return entry !== undefined && (await this.#remove(entry, options)) ? 1 : 0;
    }
    const tenant = target.kind === 'tenant' ? target.tenant : (request.tenant ?? request.identity.tenant);
    const removal = { count: 0 };
    try {
      await this.#removeAll(request, { tenant, options, removal });
    } catch {
      // The mark stands: what was not reached in time is never served, and leaves with its TTL.
      this.#deps.telemetry.counter('reprise_background_failures_total', 'purge').add();
    }
    return removal.count;
  }

  async #removeAll(
    request: InvalidateRequest,
    walk: { tenant: string; options: CallOptions; removal: { count: number } },
  ): Promise<void> {
    const { grid } = this.#deps;
    const { tenant, options, removal } = walk;
    let after: string | undefined;
    do {
      const page = await grid.scan(
        'entries',
        after === undefined ? { limit: PAGE_ITEMS } : { limit: PAGE_ITEMS, after },
        options,
      );
      for (const item of page.items) {
        const entry = decodeEntry(item.key, item.value);
        if (entry === undefined || !isTarget(entry, request, tenant)) continue;
        if (this.#deps.ledger.validity(entry) === 'valid') continue;
        if (await this.#remove(entry, options)) removal.count += 1;
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** Removes an entry's bytes and its vector, which holds its asked text. True when there was an entry. */
  async #remove(entry: Entry, options: CallOptions): Promise<boolean> {
    const { tiers, grid, semantic } = this.#deps;
    const removed = await tiers.remove(entry.key, options);
    if (entry.scope === '') return removed;
    semantic?.forget(entry.scope, entry.key);
    await grid.remove('vectors', entry.key, options);
    return removed;
  }
}

function isTarget(entry: Entry, request: InvalidateRequest, tenant: string): boolean {
  const { target } = request;
  if (target.kind === 'model') return entry.model === target.model;
  if (entry.tenant !== tenant) return false;
  if (target.kind === 'tag') return entry.tags.includes(target.tag);
  if (target.kind === 'namespace') return entry.namespace === target.namespace;
  return target.kind === 'tenant';
}

/** One that no request can bear would be marked in vain. */
function checked(name: string, param: string): string {
  if (isName(name)) return name;
  throw new RepriseError('invalid_request', `A ${param} has ${NAME_RULE}.`, { param });
}

/** Tenants may come from an embedding program's own accounts. */
function checkedTenant(name: string): string {
  if (TENANT.test(name)) return name;
  throw new RepriseError('invalid_request', 'A tenant has 1 to 256 characters, none of them a control character.', {
    param: 'tenant',
  });
}
