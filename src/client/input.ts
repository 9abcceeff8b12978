/** Accepts read-only arrays and objects instead of mutable ones. */
export type Input<T> = T extends object ? { readonly [K in keyof T]: Input<T[K]> } : T

/** Accepts undefined for each member. */
export type Filter<T> = { readonly [K in keyof T]: T[K] | undefined }
