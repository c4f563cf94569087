import type { LocalGridStatus, MemberStatus, Stopped } from '../../../grid/hazelcast/local-grid.ts';
import { table } from '../table.ts';

/** Variables that point a node at these members. */
export function environmentOf(status: LocalGridStatus): Readonly<Record<string, string>> {
  return {
    REPRISE_GRID_MEMBERS: status.members.map(({ address }) => address).join(','),
    ...(status.clusterName !== 'reprise' && { REPRISE_GRID_CLUSTER: status.clusterName }),
    REPRISE_GRID_MEMBERS_EXPECTED: String(status.membersExpected),
  };
}

export function startedText(status: LocalGridStatus): string {
  return `${statusText(status)}\nUse them:\n  ${variables(status)} npm start\nStop them:\n  npx reprise grid stop\n`;
}

export function statusText(status: LocalGridStatus | undefined): string {
  if (status === undefined) return 'No members were started here (reprise grid start).\n';
  const { members, clusterName, heapMb, membersExpected, isWhole } = status;
  const expected = membersExpected === members.length ? '' : `, ${membersExpected} expected`;
  const head = `${isWhole ? 'Whole' : 'Not whole'}: cluster ${clusterName}, ${members.length} members${expected}, heap ${heapMb} MB each.\n`;
  const rows = members.map((member) => [
    member.address,
    `pid ${member.pid}`,
    conditionText(member, members.length),
    member.logFile,
  ]);
  return `${head}${table(rows, { indent: '  ' })}`;
}

export function stoppedText({ members, killed }: Stopped): string {
  if (members === 0) return 'No members ran.\n';
  const rest = killed === 0 ? '' : `; ${killed} did not obey and had to be killed`;
  return `${members} ${members === 1 ? 'member' : 'members'} stopped${rest}.\n`;
}

function conditionText({ condition, sees }: MemberStatus, count: number): string {
  switch (condition) {
    case 'joined':
      return 'joined';
    case 'apart':
      return `sees ${sees} of ${count}`;
    case 'silent':
      return 'does not answer';
    case 'ended':
      return 'ended';
  }
}

function variables(status: LocalGridStatus): string {
  return Object.entries(environmentOf(status))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
