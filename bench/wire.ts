/** A protocol over one connection with one request under way at a time. */
export interface Wire {
  /** What is sent first of all. */
  readonly opening: Buffer;
  /** The bytes of one request, made for this connection. */
  request(bytes: Buffer): Buffer;
  /** Takes what came; `reply` sends what the protocol itself must say. Tells when the answer is whole, and whether it is a good one. */
  receive(data: Buffer, reply: (bytes: Buffer) => void): 'more' | 'good' | 'bad';
}
