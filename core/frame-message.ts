import type { AuthFrame } from './auth-frame.js'

/** What a frame opens; the two texts differ, so that a frame for one never opens the other. */
export type FramePurpose = 'history' | 'socket'

/** The words of the signed text that a deployment chooses (decision A14). */
export interface FrameWords {
  /** The domain that wants the signature. */
  readonly domain: string
  /** What the text calls the product; `service` by default. */
  readonly product: string
}

/** The text that is signed for a frame, with the address written as given; no trailing newline. */
export function frameMessage(
  purpose: FramePurpose,
  { domain, product }: FrameWords,
  frame: Pick<AuthFrame, 'address' | 'nonce' | 'issuedAt' | 'expiry'>,
): string {
  const wanted = {
    history: `view your ${product} order history.`,
    socket: `authenticate for the ${product} markets WebSocket.`,
  }
  return [
    `${domain} wants you to ${wanted[purpose]}`,
    `Address: ${frame.address}`,
    `Nonce: ${frame.nonce}`,
    `Issued At: ${frame.issuedAt}`,
    `Expiration Time: ${frame.expiry}`,
  ].join('\n')
}
