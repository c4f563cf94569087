/** How to reach a Hazelcast cluster, and how values are kept there. */
export interface HazelcastOptions {
  /** `host:port`, IPv6 in brackets. A name is resolved anew at each attempt to connect, and all its addresses are used. */
  readonly members: readonly string[];
  readonly clusterName: string;
  /** How this node is called in the members' logs. */
  readonly clientName: string;
  /** 0: not told. With fewer members than this `health()` is degraded. */
  readonly membersExpected: number;
  /** Absent: values are stored unsealed, and sealed ones can't be read. */
  /** Whether members beyond this machine are refused: values go to them in clear. */
  readonly loopbackOnly: boolean;
  readonly seal: SealOptions | undefined;
  /** Values below this are never compressed, bytes; `Infinity`: none is. */
  readonly compressBytesMin: number;
}

/** A key of AES-256-GCM, by the name that is written next to what it seals. */
export interface SealKey {
  /** 1 to 255 bytes of UTF-8. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** The key that seals, and those that only open: what they sealed stays readable while keys are rotated. */
export interface SealOptions {
  readonly active: SealKey;
  readonly others: readonly SealKey[];
}
