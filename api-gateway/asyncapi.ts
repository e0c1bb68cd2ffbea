import type { z } from 'zod'
import { clientFrames, serverFrames } from '../interface/socket.js'
import { SOCKET_BOUNDS } from '../interface/socket-bounds.js'
import { INTERFACE_VERSION, type Json, toJson } from './openapi.js'

/** An AsyncAPI 3 document. */
export interface AsyncApiDocument extends Json {
  readonly asyncapi: '3.0.0'
  readonly components: {
    readonly messages: Readonly<Record<string, Json>>
    readonly schemas: Readonly<Record<string, Json>>
  }
}

const DESCRIPTION = `
One WebSocket, JSON text frames. Connect once and subscribe as often as needed; every stream begins with a snapshot and goes on with one
update per change, never batched or dropped.

On \`book\`, \`trades\` and \`orders\`, \`seq\` numbers the changes of a market; every other channel numbers its own events, so never compare the numbers of two
channels. On \`book\` it has no gaps; on the others it skips what does not concern you, so compare \`prev_seq\`: a client
that applied everything up to \`prev_seq\` has missed nothing. To go on after a reconnect, subscribe with \`since_seq\`, the last \`seq\` that was
applied.

Of an order wait for \`final\`, not for a status: a cancelled order with a \`pending_amount\` may still fill. Its figures are those of its own fills; what a
replacement took over is its \`inherited_filled_amount\`. A replay of \`orders\` from before the newest 16,384 changes of a market leaves out what it no longer
knows: the figures, and of orders that ended long ago the fields that are optional.

\`levels\`, \`candles\`, \`ticker\` and \`status\` carry absolute values: what changes together shares an update, and a frame replaces what it names. \`levels\` has the number of the
market's newest change that it reflects; a resume sends one update with what differs, as far back as 16,384 changes. \`candles\` numbers its own updates, the same after a restart; a resume sends
each candle that was changed since, once. \`status\` counts its changes and \`ticker\` has the milliseconds of its clock: an earlier number is answered by \`resume_too_old\` and the
snapshot, which is the whole state. \`depth\` and \`interval\` tell the streams of a market apart.

\`place\`, \`replace\`, \`reduce\` and \`cancel\` frames enter and change orders as REST does, and \`cancel_all\` cancels those of the address that has authenticated; each is answered
by one \`result\` frame with its \`req_id\`, in the order of the decisions. A batch is several frames sent at once. At most ${SOCKET_BOUNDS.unansweredOrders} may be unanswered, one more is refused.

Fields may be added at any time, so ignore what you do not know. The server pings every 15 seconds and closes a connection that does not pong within ten. It closes
1003 on binary frames, 1007 on invalid UTF-8, 1008 beyond ${SOCKET_BOUNDS.messages} messages in ${SOCKET_BOUNDS.messageWindowSec} seconds, ${SOCKET_BOUNDS.subscriptions} subscriptions or 64 fragments a message, 1009 on more than 64 KiB,
1013 when the client does not read, 1001 when it restarts.
`.trim()

/** Builds the document of the WebSocket from the schemas of its frames. */
export function asyncApiDocument(): AsyncApiDocument {
  const schemas: Record<string, Json> = {}
  const messages: Record<string, Json> = {}
  for (const [name, frame] of [...Object.entries(clientFrames), ...Object.entries(serverFrames)]) {
    messages[name] = messageJson(name, frame, schemas)
  }
  const named = (frames: object): Json[] =>
    Object.keys(frames).map((name) => ({ $ref: `#/channels/feed/messages/${name}` }))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Order-book venue: the feed',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      feed: {
        address: '/v1/ws',
        description: 'The one WebSocket; every channel is subscribed to over it.',
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: {
      receiveFromClient: {
        action: 'receive',
        channel: { $ref: '#/channels/feed' },
        summary: 'What a client may send',
        messages: named(clientFrames),
      },
      sendToClient: {
        action: 'send',
        channel: { $ref: '#/channels/feed' },
        summary: 'What the venue answers and tells',
        messages: named(serverFrames),
      },
    },
    components: { messages, schemas },
  }
}

/** The frame's schema stands under components like those that it uses. */
function messageJson(name: string, frame: z.ZodType, schemas: Record<string, Json>): Json {
  const { id = name, description } = frame.meta() ?? {}
  const root = toJson(frame, schemas)
  schemas[id] ??= root
  return { name, title: id, summary: description, payload: { $ref: `#/components/schemas/${id}` } }
}
