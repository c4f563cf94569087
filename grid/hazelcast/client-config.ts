import type { ClientConfig, ILogger, LifecycleState, MembershipListener, ReconnectMode } from 'hazelcast-client';
import type { Telemetry } from '../../runtime/ports/telemetry.ts';
import type { HazelcastOptions } from './options.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** A connection that is silent for this long is closed. Members pause for garbage collection, but not for seconds. */
const HEARTBEAT_TIMEOUT_MS = 5_000;
const HEARTBEAT_INTERVAL_MS = 1_000;
/** How long the client itself repeats a call whose owner changes: our deadlines are shorter. */
const INVOCATION_TIMEOUT_MS = 5_000;
const RETRY_PAUSE_MS = 100;
const BACKUP_TIMEOUT_MS = 3_000;
/** How the client's message begins when it could not use an address; the address and the cause follow. */
const TROUBLE = 'Error during initial connection to';

export interface ClientHooks {
  readonly logger: ILogger;
  readonly onLifecycle: (state: LifecycleState) => void;
  readonly membership: MembershipListener;
  /** The client package's own word for never. */
  readonly reconnectMode: ReconnectMode;
}

/**
 * The client's configuration. It tries each address once and never connects again by itself: a client that lost its last
 * member ends, which fails all that waits in it at once, and `ClusterLink` makes a new one, which knows nothing of the old
 * cluster.
 */
export function clientConfig(
  options: HazelcastOptions,
  clusterMembers: readonly string[],
  hooks: ClientHooks,
): ClientConfig {
  return {
    clusterName: options.clusterName,
    instanceName: options.clientName,
    network: {
      clusterMembers: [...clusterMembers],
      connectionTimeout: CONNECT_TIMEOUT_MS,
      smartRouting: true,
      redoOperation: false,
    },
    connectionStrategy: {
      asyncStart: false,
      reconnectMode: hooks.reconnectMode,
      connectionRetry: { initialBackoffMillis: 0, maxBackoffMillis: 0, clusterConnectTimeoutMillis: 0 },
    },
    backupAckToClientEnabled: true,
    metrics: { enabled: false },
    customLogger: hooks.logger,
    lifecycleListeners: [hooks.onLifecycle],
    membershipListeners: [hooks.membership],
    properties: {
      'hazelcast.client.heartbeat.interval': HEARTBEAT_INTERVAL_MS,
      'hazelcast.client.heartbeat.timeout': HEARTBEAT_TIMEOUT_MS,
      'hazelcast.client.invocation.timeout.millis': INVOCATION_TIMEOUT_MS,
      'hazelcast.client.invocation.retry.pause.millis': RETRY_PAUSE_MS,
      'hazelcast.client.operation.backup.timeout.millis': BACKUP_TIMEOUT_MS,
      'hazelcast.client.operation.fail.on.indeterminate.state': true,
      'hazelcast.client.statistics.enabled': false,
    },
  };
}

/** What `clientLogger` passes on beside the log: why an address could not be used. */
export type OnTrouble = (message: string) => void;

/**
 * The client's log lines as ours. They name members and connections, never values; they are for those who debug, as the
 * link itself tells of connections made and lost.
 */
export function clientLogger(telemetry: Telemetry, onTrouble: OnTrouble): ILogger {
  const tell = (part: string, message: string): void =>
    telemetry.log('debug', 'grid client', { part, message: message.trim() });
  const quiet = (): void => undefined;
  return {
    log: (_level, part, message) => tell(part, message),
    error: tell,
    warn: (part, message) => {
      if (message.startsWith(TROUBLE)) onTrouble(message.slice(TROUBLE.length).trim());
      tell(part, message);
    },
    info: tell,
    debug: quiet,
    trace: quiet,
  };
}
