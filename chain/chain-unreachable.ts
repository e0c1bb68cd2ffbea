import { BaseError } from 'viem'

/** The chain gave no usable answer; nothing is known about the question that was asked. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable'
}

/** The answer, or a ChainUnreachable that says what was asked. */
export async function orUnreachable<Answer>(
  question: string,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw unreachable(question, error)
  }
}

/** What to throw when the question had no answer. */
export function unreachable(question: string, error: unknown): ChainUnreachable {
  const cause = new Error(brief(error))
  return new ChainUnreachable(`no answer from the chain: ${question}`, { cause })
}

/**
 * The client's errors spell out the address of the node, which may hold a key, and the request, which may hold
 * signatures; only their short text may reach a log.
 */
function brief(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`.trim()
  return error instanceof Error ? error.message : 'unknown error'
}
