import type { CacheStatus, CandidateEvidence, Explanation } from '../node/index.ts';
import { duration, oneLine, shortId } from './format.ts';
import { table } from './table.ts';

const STORED_TEXT_CHARS = 60;

/** An explanation for people: what would be answered, why, the candidates, and the nearest stored key. */
export function explainText(explanation: Explanation): string {
  const { key, scope, tenant, namespace, model, modelVersion, status, reasons, nearest } = explanation;
  const parts = [
    `${verdict(status)}\n\n`,
    table([
      ['key', key],
      ['scope', scope === '' ? 'none: the request takes no part in semantic reuse' : scope],
      ['tenant', tenant],
      ['namespace', namespace],
      ['model', modelVersion === '' ? model : `${model}, version ${modelVersion}`],
    ]),
    '\nWhy\n',
    ...reasons.map((reason) => `  ${reason}\n`),
    semanticText(explanation),
  ];
  if (nearest !== undefined) {
    const { differingFields, entryId } = nearest;
    parts.push(
      `\nNearest stored key ${entryId}\n`,
      differingFields.length === 0
        ? '  the same in every field\n'
        : `  differs in ${differingFields.map((field) => oneLine(field, 80)).join(', ')}\n`,
    );
  }
  return parts.join('');
}

/** What the cache does for a request, as one line. */
export function statusText(status: CacheStatus): string {
  const { outcome, detail, similarity, probability, ageMs, ttlMs, entryId } = status;
  const parts = [detail === '' ? outcome : `${outcome} (${detail})`];
  if (similarity !== undefined) parts.push(`similarity ${similarity.toFixed(4)}`);
  if (probability !== undefined) parts.push(`probability ${probability.toFixed(4)}`);
  if (outcome === 'hit') parts.push(`age ${duration(ageMs)}`, ttlText(ttlMs));
  if (entryId !== '') parts.push(`entry ${entryId}`);
  if (status.unconfirmed) parts.push('unconfirmed: the ledger was out of reach');
  return parts.join('  ');
}

function ttlText(ttlMs: number): string {
  if (!Number.isFinite(ttlMs)) return 'never expires';
  return ttlMs > 0 ? `expires in ${duration(ttlMs)}` : `expired ${duration(-ttlMs)} ago`;
}

function verdict(status: CacheStatus): string {
  if (status.outcome === 'hit') return `Answered from memory: ${statusText(status)}`;
  if (status.outcome === 'bypass') return `The model would be called, and nothing stored: bypass (${status.detail})`;
  return 'The model would be called: miss';
}

function semanticText({ semantic }: Explanation): string {
  const { mode, domain, threshold, candidates } = semantic;
  const head = `\nSemantic: ${mode}, domain ${domain}, threshold ${threshold}\n`;
  if (candidates.length === 0) return `${head}  no candidate\n`;
  const rows = [['similarity', 'probability', 'verdict', 'vetoes', 'entry', 'stored text'], ...candidates.map(row)];
  return head + table(rows, { right: [0, 1], indent: '  ' });
}

function row(candidate: CandidateEvidence): string[] {
  return [
    candidate.similarity.toFixed(4),
    candidate.probability.toFixed(4),
    candidate.served ? 'served' : candidate.reason,
    candidate.vetoes.length === 0 ? '–' : candidate.vetoes.join(', '),
    shortId(candidate.entryId),
    oneLine(candidate.storedText, STORED_TEXT_CHARS),
  ];
}
