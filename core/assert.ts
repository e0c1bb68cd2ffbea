/** A broken invariant: the process stops, because continuing could corrupt more state. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken'
}

/**
 * Throws InvariantBroken unless the condition holds. For programming errors, never for bad input. On hot
 * paths, test first and call it with `false`: building the message costs more than most checks.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantBroken(message)
}

/** The broken invariant among the causes of an error; undefined where an operating error is the last cause. */
export function brokenIn(error: unknown): InvariantBroken | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof InvariantBroken) return at
  }
  return undefined
}

/** Marks a branch the types exclude; reaching it is a broken invariant. */
export function unreachable(value: never): never {
  throw new InvariantBroken(`unreachable: ${JSON.stringify(value)}`)
}
