import { memberFiles } from './member-files.ts';

/** What one member is told. */
export interface MemberSettings {
  readonly jar: string;
  readonly clusterName: string;
  /** Address to bind and, without a public one, to be reached by. */
  readonly host: string;
  readonly port: number;
  /** `host:port` that nodes and other members are told; undefined: where it listens. */
  readonly publicAddress?: string | undefined;
  /** Addresses of all members of the start. */
  readonly members: readonly string[];
  readonly membersExpected: number;
  readonly heapMb: number;
  /** More options of Java. */
  readonly javaOptions?: readonly string[] | undefined;
}

const MAIN_CLASS = 'com.hazelcast.core.server.HazelcastMemberStarter';

/** What Hazelcast wants opened on Java 17 and newer. */
const MODULES = [
  '--add-modules=java.se',
  '--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED',
  '--add-opens=java.base/java.lang=ALL-UNNAMED',
  '--add-opens=java.base/sun.nio.ch=ALL-UNNAMED',
  '--add-opens=java.management/sun.management=ALL-UNNAMED',
  '--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED',
];

/** Members that must see each other before the ledger may be read or written. */
export function majorityOf(membersExpected: number): number {
  return Math.floor(membersExpected / 2) + 1;
}

/** Arguments of `java` for one member. */
export function memberArguments(settings: MemberSettings & { readonly token: string }): string[] {
  const {
    jar,
    clusterName,
    host,
    port,
    publicAddress,
    members,
    membersExpected,
    heapMb,
    javaOptions = [],
    token,
  } = settings;
  return [
    `-Xms${heapMb}m`,
    `-Xmx${heapMb}m`,
    '-XX:+ExitOnOutOfMemoryError',
    ...MODULES,
    `-Dreprise.member=${token}`,
    `-Dreprise.cluster=${clusterName}`,
    `-Dreprise.port=${port}`,
    `-Dreprise.members=${members.join(',')}`,
    `-Dreprise.protected=${membersExpected > 1}`,
    `-Dreprise.majority=${Math.max(2, majorityOf(membersExpected))}`,
    `-Dhazelcast.config=${memberFiles().config}`,
    `-Dhazelcast.local.localAddress=${host}`,
    '-Dhazelcast.socket.bind.any=false',
    '-Dhazelcast.socket.client.bind.any=false',
    ...(publicAddress === undefined ? [] : [`-Dhazelcast.local.publicAddress=${publicAddress}`]),
    // On one machine a member that doesn't answer at once isn't there.
    '-Dhz.network.join.tcp-ip.connection-timeout-seconds=1',
    // The file's schema is checked by a test; a member that checks it starts a second later.
    '-Dhazelcast.config.schema.validation.enabled=false',
    ...javaOptions,
    '-cp',
    jar,
    MAIN_CLASS,
  ];
}
