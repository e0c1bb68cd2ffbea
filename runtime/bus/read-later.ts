import { mayBeReadLater, MessagesGone } from './bus.js'

/**
 * Reads the logs of markets, for a copy that follows them while another process leads. False where they can be read later: the bus does
 * not answer, does not show a log yet, or has trimmed messages meanwhile. Throws any other error.
 */
export async function isReadNow(read: () => Promise<void>): Promise<boolean> {
  try {
    await read()
    return true
  } catch (error) {
    if (mayBeReadLater(error) || error instanceof MessagesGone) return false
    throw error
  }
}
