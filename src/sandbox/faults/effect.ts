/** Whether a fault cuts a request off before or after it takes effect. */
export type When = 'before' | 'after'

/** The delay of an answer: milliseconds, or a distribution of them. */
export type Delay =
  | { readonly ms: number }
  | { readonly distribution: 'uniform'; readonly min: number; readonly max: number }
  | { readonly distribution: 'lognormal'; readonly median: number; readonly sigma: number; readonly max: number }

/** An operation of a JSON Patch (RFC 6902). Its path is a JSON Pointer, such as `/data/0/status`. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** The effect of a fault on a request (decisions §12). */
export type Effect =
  | {
      readonly kind: 'error'
      readonly status: number
      readonly code?: string
      readonly message?: string
      /** In seconds. */
      readonly retryAfter?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  | ({ readonly kind: 'delay' } & Delay)
  | { readonly kind: 'drop' | 'reset'; readonly when: When }
  | { readonly kind: 'truncate' | 'garbage' | 'stale-token' }
  | { readonly kind: 'dribble'; readonly ms: number }
  /** Changes the answer as it is sent. */
  | { readonly kind: 'patch'; readonly patch: readonly PatchOperation[] }

export type EffectKind = Effect['kind']
