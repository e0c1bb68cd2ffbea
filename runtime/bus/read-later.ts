import { mayBeReadLater, MessagesGone } from './bus.js'

/**
 * Whether the logs of markets were read, for a copy that follows them while another process leads. False for what can be read later: of
 * a bus that does not answer, a log that it does not show yet, or messages that are trimmed meanwhile.
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
