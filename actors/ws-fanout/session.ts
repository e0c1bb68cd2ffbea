import type { Address } from '../../core/action.js'
import type { Authenticate } from './authenticate.js'
import { parseClientFrame, type ClientFrame } from './client-frames.js'
import { ackFrame, errorFrame, pongFrame } from './server-frames.js'
import { createSubscriptions, type SubscriptionsParts } from './subscriptions.js'

/** One client's conversation. */
export interface Session {
  /** Answers one text frame; frames are answered in the order in which they came. */
  onText(text: string): void
  /** The connection is over: nothing is delivered any more. */
  end(): void
}

export interface SessionParts extends SubscriptionsParts {
  readonly authenticate: Authenticate
}

type Auth = Extract<ClientFrame, { op: 'auth' }>

export function createSession(parts: SessionParts): Session {
  const { connection, authenticate } = parts
  const subscriptions = createSubscriptions(parts)
  /** The address this connection speaks for, until it closes. */
  let owner: Address | undefined
  let isAuthenticating = false
  /** What had arrived when an auth frame began to be judged: the connection is paused, so it is little. */
  const waiting: string[] = []

  function onText(text: string): void {
    if (!connection.isOpen()) return
    if (isAuthenticating) {
      waiting.push(text)
      return
    }
    const parsed = parseClientFrame(text)
    if ('frame' in parsed) return answer(parsed.frame)
    const { code, ...context } = parsed.problem
    connection.send(errorFrame(code, context))
  }

  function answer(frame: ClientFrame): void {
    switch (frame.op) {
      case 'ping':
        return connection.send(pongFrame(frame.reqId))
      case 'auth':
        return void auth(frame)
      case 'subscribe':
        return subscriptions.subscribe(frame, owner)
      case 'unsubscribe':
        return subscriptions.unsubscribe(frame, owner)
    }
  }

  async function auth({ fields, reqId }: Auth): Promise<void> {
    isAuthenticating = true
    connection.pause()
    const judged = await authenticate(fields, owner)
    isAuthenticating = false
    if ('owner' in judged) owner = judged.owner
    connection.send(
      'owner' in judged
        ? ackFrame('authenticated', { reqId })
        : errorFrame('auth_failed', { reqId, message: judged.reason }),
    )
    connection.resume()
    for (const text of waiting.splice(0)) onText(text)
  }

  return { onText, end: () => subscriptions.end() }
}
