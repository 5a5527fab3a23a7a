/** The longest a token may last, in milliseconds: after that long, no revocation has anything left to revoke. */
export const MAX_LIFETIME = 366 * 24 * 60 * 60 * 1000;

/** How far another's clock may be ahead of ours, in milliseconds. */
export const TOLERANCE = 5_000;

/** The longest token that is looked at, in characters. */
export const MAX_TOKEN = 8192;
