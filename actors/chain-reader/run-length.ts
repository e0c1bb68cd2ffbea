import { ChainUnreachable } from '../../chain/reads/client.js'
import { MAX_LOG_BLOCKS } from '../../chain/reads/logs.js'

/**
 * How many blocks a node is asked for the events of at once: half as many after a refusal, because a provider may refuse a run with
 * many events, and twice as many after an answer.
 */
export interface RunLength {
  /** From 1 to MAX_LOG_BLOCKS. */
  most(): bigint
  /**
   * What is read of at most `most` blocks; undefined where that was refused and shorter runs may not be. Rejects as `read` does, and
   * with ChainUnreachable when even one block alone is refused.
   */
  attempt<T>(blocks: bigint, read: () => Promise<T>): Promise<T | undefined>
}

export function createRunLength(): RunLength {
  let most = MAX_LOG_BLOCKS
  return {
    most: () => most,
    async attempt(blocks, read) {
      try {
        const answer = await read()
        most = most * 2n < MAX_LOG_BLOCKS ? most * 2n : MAX_LOG_BLOCKS
        return answer
      } catch (error) {
        if (!(error instanceof ChainUnreachable) || blocks === 1n) throw error
        // Rounded down; at least 1.
        most = blocks / 2n
        return undefined
      }
    },
  }
}
