import type { TestCluster } from '../../grid/hazelcast/testing/cluster.ts';

/** Takes a fault away; calls `onMajority` as soon as most members are there again, and resolves when all are. */
export type Heal = (onMajority: () => void) => Promise<void>;

export interface Scenario {
  readonly id: string;
  /** As tables show it. */
  readonly title: string;
  /** Lets the fault happen; gives what ends it. */
  readonly strike: (cluster: TestCluster) => Promise<Heal>;
  /** Healing starts members, which takes the processor from everything else. */
  readonly startsMembers: boolean;
  /** The hit rate has to be back while the fault lasts. */
  readonly recoversUnderFault: boolean;
  /** So many members are away that no node can confirm the ledger. */
  readonly isCutOff: boolean;
}

const SLOW_MS = 200;
const CUT_EVERY_MS = 1_000;
const ALL: readonly number[] = [0, 1, 2];

export const SCENARIOS: readonly Scenario[] = [
  {
    id: 'baseline',
    title: 'nothing happens',
    strike: () => Promise.resolve(healNothing),
    startsMembers: false,
    recoversUnderFault: true,
    isCutOff: false,
  },
  killing('kill-one', '`kill -9` of one member', [0]),
  killing('kill-two', '`kill -9` of two members', [1, 2]),
  killing('kill-all', '`kill -9` of all members', ALL),
  pausing('pause-one', 'SIGSTOP of one member', [1]),
  pausing('pause-all', 'SIGSTOP of all members', ALL),
  faulty('slow-one', `one member ${SLOW_MS} ms slow, each way`, (cluster) =>
    cluster.setFault(2, { kind: 'delay', ms: SLOW_MS }),
  ),
  faulty('stall-one', 'connections to one member stalled', (cluster) =>
    cluster.setFault(0, { kind: 'stall', direction: 'both' }),
  ),
  {
    ...faulty('stall-all', 'connections to all members stalled', (cluster) => {
      for (const index of ALL) cluster.setFault(index, { kind: 'stall', direction: 'both' });
    }),
    isCutOff: true,
  },
  {
    id: 'cut',
    title: 'connections to all members cut, every second',
    strike: (cluster) => Promise.resolve(cutting(cluster)),
    startsMembers: false,
    recoversUnderFault: false,
    isCutOff: false,
  },
];

function killing(id: string, title: string, indexes: readonly number[]): Scenario {
  const isCutOff = indexes.length > 1;
  return {
    id,
    title,
    async strike(cluster) {
      await Promise.all(indexes.map((index) => cluster.kill(index)));
      return async (onMajority) => {
        if (!isCutOff) onMajority();
        await Promise.all(indexes.map((index) => cluster.restart(index, 2).then(onMajority)));
      };
    },
    startsMembers: true,
    recoversUnderFault: !isCutOff,
    isCutOff,
  };
}

function pausing(id: string, title: string, indexes: readonly number[]): Scenario {
  return {
    id,
    title,
    strike(cluster) {
      for (const index of indexes) cluster.pause(index);
      return Promise.resolve((onMajority) => {
        for (const index of indexes) cluster.resume(index);
        onMajority();
        return Promise.resolve();
      });
    },
    startsMembers: false,
    recoversUnderFault: false,
    isCutOff: indexes.length > 1,
  };
}

function faulty(id: string, title: string, strike: (cluster: TestCluster) => void): Scenario {
  return {
    id,
    title,
    strike(cluster) {
      strike(cluster);
      return Promise.resolve((onMajority) => {
        cluster.heal();
        onMajority();
        return Promise.resolve();
      });
    },
    startsMembers: false,
    recoversUnderFault: false,
    isCutOff: false,
  };
}

function cutting(cluster: TestCluster): Heal {
  const cut = (): void => {
    for (const index of ALL) cluster.cut(index);
  };
  cut();
  const timer = setInterval(cut, CUT_EVERY_MS);
  return (onMajority) => {
    clearInterval(timer);
    onMajority();
    return Promise.resolve();
  };
}

const healNothing: Heal = (onMajority) => {
  onMajority();
  return Promise.resolve();
};
