import type { Command } from '../../core/engine/command.js'
import type { Order } from '../../core/engine/order.js'

/** The orders that a command brings into its market, each with a claim of its own. */
export const ordersOf = (command: Command): readonly Order[] =>
  command.kind === 'PlaceOrder' ? [command.order] : []
