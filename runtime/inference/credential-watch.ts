/** Told how an upstream took a caller's own credential; only in identity mode `forward`. */
export interface CredentialWatch {
  /** After a 2xx to a call that began at `calledAtMs` (monotonic): the credential may use the cache for some minutes from then. */
  accepted(credential: string, calledAtMs: number): void;
  /** After a 401 or 403: it may not, from now on. */
  rejected(credential: string): void;
}
