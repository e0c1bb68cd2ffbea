/** What the WebSocket takes of one connection, in the units of the names. Additive to the interface. */
export const SOCKET_BOUNDS = {
  /** A larger frame of a client closes its connection with 1009. */
  frameBytes: 65_536,
  /** One more closes the connection with 1008. */
  subscriptions: 64,
  /** Requests of orders without an answer; one more is refused. */
  unansweredOrders: 64,
  /** Messages of a client in `messageWindowSec`, pings among them; one more closes the connection with 1008. */
  messages: 2_000,
  messageWindowSec: 10,
} as const
