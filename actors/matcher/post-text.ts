import { Agent, request } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'

export interface PostedAnswer {
  readonly status: number
  readonly text: string
}

/** Posts JSON text to the one address; rejects when there is no answer in time, or when the signal is aborted. */
export type PostText = (
  text: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<PostedAnswer>

export interface PosterOptions {
  readonly url: URL
  /** Without a byte for so long, an answer is not waited for any more. */
  readonly timeoutMs: number
  /** Connections that are kept for the next request. */
  readonly maxKept: number
}

/**
 * Thousands of requests are under way at once and each waits for seconds, so each costs as little as can be: no streams
 * beyond the connection's own, and one listener for all that share a signal.
 */
export function createPoster({ url, timeoutMs, maxKept }: PosterOptions): PostText {
  const isTls = url.protocol === 'https:'
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, maxFreeSockets: maxKept })
  const send = isTls ? tlsRequest : request
  const underWay = new WeakMap<AbortSignal, Set<ClientRequest>>()

  const sharing = (signal: AbortSignal): Set<ClientRequest> => {
    const known = underWay.get(signal)
    if (known !== undefined) return known
    const requests = new Set<ClientRequest>()
    underWay.set(signal, requests)
    const stop = (): void => requests.forEach((one) => one.destroy(new Error('was stopped')))
    signal.addEventListener('abort', stop, { once: true })
    return requests
  }
  return (text, headers, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) throw new Error('was stopped')
      const requests = sharing(signal)
      const posting = send(url, {
        ...{ method: 'POST', agent, timeout: timeoutMs },
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...headers,
        },
      })
      requests.add(posting)
      posting.on('timeout', () => posting.destroy(new Error(`silent for ${timeoutMs} ms`)))
      posting.on('error', reject)
      posting.on('close', () => requests.delete(posting))
      posting.on('response', (response) => readAll(response, resolve, reject))
      posting.end(text)
    })
}

function readAll(
  response: IncomingMessage,
  resolve: (answer: PostedAnswer) => void,
  reject: (error: Error) => void,
): void {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => (text += chunk))
  response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  response.on('error', reject)
}
