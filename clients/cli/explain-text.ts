import type { CacheStatus, CandidateEvidence, Explanation, PolicyExplanation } from '../node/index.ts';
import { duration, oneLine, shortId } from './format.ts';
import { table } from './table.ts';

const STORED_TEXT_CHARS = 60;
const REASON_CHARS = 160;

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
  const { mode, domain, domainReason, threshold, candidates, calibration, verifier } = semantic;
  const head = [
    `\nSemantic: ${mode}, domain ${domain}, threshold ${threshold}\n`,
    domainReason === '' ? '' : `  domain       ${oneLine(domainReason, REASON_CHARS)}\n`,
    calibration === '' ? '' : `  calibration  ${oneLine(calibration, REASON_CHARS)}\n`,
    verifier === '' ? '' : `  verifier     ${oneLine(verifier, REASON_CHARS)}\n`,
    ...semantic.policies.map(policyText),
  ].join('');
  if (candidates.length === 0) return `${head}  no candidate\n`;
  const columns = ['similarity', 'probability', 'verified', 'verdict', 'vetoes', 'entry', 'stored text'];
  const shown = candidates.map(row);
  return head + table([columns, ...shown], { right: [0, 1, 2], indent: '  ' }) + candidates.map(guardsText).join('');
}

function policyText(policy: PolicyExplanation): string {
  const { domain, similarityMin, probabilityMin, verifiedMin, calibrated, guards } = policy;
  const verified = verifiedMin === undefined ? '' : `, verified ≥ ${verifiedMin}`;
  const minima = `similarity ≥ ${similarityMin}, probability ≥ ${probabilityMin}${verified}`;
  return `  ${domain}: ${minima} (${calibrated ? 'calibrated' : 'not calibrated'}), guards ${guards.join(', ') || 'none'}\n`;
}

function row(candidate: CandidateEvidence): string[] {
  return [
    candidate.similarity.toFixed(4),
    candidate.probability.toFixed(4),
    candidate.verified?.toFixed(4) ?? '–',
    candidate.served ? 'served' : candidate.reason,
    candidate.vetoes.length === 0 ? '–' : candidate.vetoes.join(', '),
    shortId(candidate.entryId),
    oneLine(candidate.storedText, STORED_TEXT_CHARS),
  ];
}

/** What every guard says, where there is more to say than the vetoes of the table. */
function guardsText({ entryId, guards, unknown }: CandidateEvidence): string {
  if (guards.length === 0) return '';
  const verdicts = guards.map(({ name, verdict }) => (verdict === 'clear' ? name : `${name}: ${verdict}`));
  const strict = unknown.length === 0 ? '' : '; not every guard knows the language, so the strict threshold holds';
  return `  guards on ${shortId(entryId)}: ${verdicts.join(', ')}${strict}\n`;
}
