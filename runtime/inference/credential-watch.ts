/** Told how an upstream took a caller's own credential; only in identity mode `forward`. */
export interface CredentialWatch {
  /** After a 2xx: the credential may use the cache for some minutes. */
  accepted(credential: string): void;
  /** After a 401 or 403: it may not, from now on. */
  rejected(credential: string): void;
}
