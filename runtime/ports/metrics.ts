/** A metric's declaration: everything that `/metrics`, the docs and the dashboard say of it. */
export interface MetricDefinition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the metric's unit. */
  readonly buckets?: readonly number[];
}

const SECONDS = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

function counter(help: string, ...labels: string[]): MetricDefinition {
  return { kind: 'counter', help, labels };
}

function gauge(help: string, ...labels: string[]): MetricDefinition {
  return { kind: 'gauge', help, labels };
}

function seconds(help: string, ...labels: string[]): MetricDefinition {
  return { kind: 'histogram', help, labels, buckets: SECONDS };
}

/** Every metric of a node. */
export const METRICS = {
  reprise_requests_total: counter(
    'Requests by operation, outcome and detail; they sum to the requests (embeddings count per item).',
    'operation',
    'outcome',
    'detail',
  ),
  reprise_request_seconds: seconds('Time from request to whole answer, by outcome.', 'operation', 'outcome'),
  reprise_lookup_seconds: seconds(
    'Time spent in tiers and semantic look-up before a model call or a hit.',
    'operation',
  ),
  reprise_join_seconds: seconds('Time from joining a flight to its first byte, for followers.', 'operation'),
  reprise_model_seconds: seconds('Time of a model call.', 'operation', 'result'),
  reprise_model_calls_total: counter('Model calls by result.', 'operation', 'result'),
  reprise_model_calls_saved_total: counter('Model calls that a hit made unnecessary.', 'operation'),
  reprise_tokens_total: counter('Tokens by kind (prompt, completion) and account (billed, saved).', 'kind', 'account'),
  reprise_cost_total: counter('Cost in the currency of the configured prices, by account (billed, saved).', 'account'),
  reprise_bypasses_total: counter('Look-ups cut short or not made, by cause.', 'cause'),
  reprise_stores_total: counter('Answers offered to the store, by result.', 'result'),
  reprise_store_queue_bytes: gauge('Bytes waiting to be stored.'),
  reprise_vector_stores_total: counter('Stored answers offered to the semantic index, by result.', 'result'),
  reprise_vector_queue_bytes: gauge('Bytes of asked texts that wait for the semantic index.'),
  reprise_near_cache_bytes: gauge('Bytes charged to the near cache (L1).'),
  reprise_near_cache_entries: gauge('Entries in the near cache (L1).'),
  reprise_near_cache_evictions_total: counter('Evictions from the near cache (L1).'),
  reprise_grid_bytes: gauge('Bytes charged to the memory grid.', 'role'),
  reprise_grid_entries: gauge('Items in the memory grid.', 'role'),
  reprise_grid_evictions_total: counter('Evictions from the memory grid.', 'role'),
  reprise_grid_seconds: seconds('Time of a grid call.', 'call'),
  reprise_grid_errors_total: counter('Failed grid calls by code.', 'code'),
  reprise_grid_unreadable_total: counter(
    'Values in the grid that this node could not read, by role and reason.',
    'role',
    'reason',
  ),
  reprise_grid_connections_total: counter('Attempts to connect to the grid, and losses of it, by result.', 'result'),
  reprise_grid_connected: gauge('1 while a member of the grid is connected.'),
  reprise_breaker_transitions_total: counter('Breaker transitions by new state.', 'state'),
  reprise_embed_queue_items: gauge('Texts waiting for the embedder.'),
  reprise_embed_seconds: seconds('Time of one embedder batch.'),
  reprise_embeddings_total: counter('Texts embedded or answered from the vector cache, by result.', 'result'),
  reprise_embedder_up: gauge('1 when semantic matching has an embedder.'),
  reprise_embedder_fallbacks_total: counter(
    'Execution providers that were asked for and not had, by provider.',
    'provider',
  ),
  reprise_semantic_decisions_total: counter('Decisions on a semantic candidate, by verdict.', 'verdict'),
  reprise_semantic_vetoes_total: counter('Vetoes by guard.', 'guard'),
  reprise_semantic_near_misses_total: counter('Candidates offered to the near-miss log, by result.', 'result'),
  reprise_recorded_requests_total: counter('Requests of recordings, by result.', 'result'),
  reprise_verifications_total: counter('Second opinions asked of the verifier, by result.', 'result'),
  reprise_verifier_seconds: seconds('Time of one second opinion.'),
  reprise_calibration_in_force: gauge('1 when semantic parameters fitted to the embedder in use are loaded.'),
  reprise_refused_pairs: gauge('Pairs that feedback has refused, of all tenants.'),
  reprise_semantic_vectors: gauge('Vectors in live cells.'),
  reprise_ledger_unconfirmed_seconds_total: counter(
    'Time for which the ledger was unconfirmed past the staleness bound, counted when it is confirmed again.',
  ),
  reprise_ledger_confirmed_age_seconds: gauge('Time since the ledger was last confirmed.'),
  reprise_ledger_sequence: gauge('Head sequence of the ledger.'),
  reprise_ledger_appends_total: counter('Invalidations by kind and result.', 'kind', 'result'),
  reprise_ledger_incarnations_total: counter('New ledger incarnations that this node adopted or made.'),
  reprise_unconfirmed_hits_total: counter('Hits served while the ledger was unconfirmed past the staleness bound.'),
  reprise_flights_total: counter('Flights by end.', 'end'),
  reprise_flights_live: gauge('Flights under way.'),
  reprise_flight_followers_total: counter('Requests that joined a flight led by another.'),
  reprise_mailbox_refused_total: counter('Turns refused because a mailbox was full, by actor type.', 'type'),
  reprise_activations: gauge('Live activations by actor type.', 'type'),
  reprise_background_failures_total: counter('Background tasks that failed, by task.', 'task'),
  reprise_upstream_queue_items: gauge('Calls waiting for an upstream slot.', 'upstream'),
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRICS;
