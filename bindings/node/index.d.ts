/** True if libtnfprobe.so.1 could be loaded; otherwise all probes stay off. */
export const available: boolean;

/**
 * The type of an argument in the trace: a number or a bigint for integers, a number for floating
 * point, a boolean, a string (`string`: the first 255 bytes; `text`: up to 64 KiB), a Buffer
 * (`blob`).  A value that does not fit is recorded as null or 0.
 */
export type Kind = 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64'
  | 'float32' | 'float64' | 'opaque' | 'string' | 'text' | 'blob' | 'bool';

export interface Definition {
  /** Words separated by blanks, by which prex and TNF_ENABLE choose probes. */
  keys?: string;
  /** Names and types of the arguments, at most 16, in this order. */
  args?: Record<string, Kind>;
}

/**
 * A probe: off until prex or TNF_ENABLE switches it on.
 * Throws a TypeError if a name or a key has a character that is not allowed (a blank, a
 * semicolon), or a type is unknown.
 */
export class Probe {
  constructor(name: string, definition?: Definition & { detail?: string });
  /** True while somebody wants the events; ask before values are computed. */
  readonly on: boolean;
  /** Records an event if the probe is on; never throws. */
  hit(...values: unknown[]): void;
}

/** A start that has been recorded. */
export interface Begun {
  /** Records the end; 0, the default, is no error. */
  end(error?: number): void;
}

/** The probes NAME_start, with the arguments, and NAME_end with `error`. */
export class Span {
  /**
   * `by` names the first argument if it tells instances apart: the end has that argument, too,
   * and `tnfdump --pair NAME_start,NAME_end,ARGUMENT` pairs spans that overlap, as all do that
   * wait for something.
   */
  constructor(name: string, definition?: Definition & { by?: string });
  begin(...values: unknown[]): Begun;
}
