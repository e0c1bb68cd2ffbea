/** Long work in pieces of a few milliseconds at most; who carries it out may do other work between two of them. */
export type Pieces<T> = Generator<undefined, T>

/** Carries out all pieces one after the other. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const piece = work.next()
    if (piece.done === true) return piece.value
  }
}
