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
    throw new ChainUnreachable(`no answer from the chain: ${question}`, { cause: error })
  }
}
