import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createHttpLoad, postOf, saturate, type HttpLoad } from './http-load.js'
import { orderFlow, restingTerms, signersOf, type OrderFlow } from './order-flow.js'
import type { OwnVenue } from './own-venue.js'

const CONNECTIONS = 64

/** A venue whose book holds so many orders, after a load that has warmed it up. */
export interface StandingBook {
  /** Of the gateway. */
  readonly port: number
  readonly load: HttpLoad
  /** The orders and cancels to be measured. */
  readonly flow: OrderFlow
}

export async function fillStandingBook(
  { devnet }: OwnVenue,
  { book, warm }: { readonly book: number; readonly warm: number },
): Promise<StandingBook> {
  const signers = await signersOf(devnet)
  const port = Number(new URL(devnet.gateway_url).port)
  const load = createHttpLoad(port, CONNECTIONS)
  const flow = orderFlow(signers)
  const resting = Array.from({ length: book }, async (_, number) =>
    postOf('/v1/orders', await signers.sign(restingTerms(number), number)),
  )
  await saturate(load, await Promise.all(resting), CONNECTIONS)
  await saturate(load, await flow.next(warm), CONNECTIONS)
  return { port, load, flow }
}

/** The next message of a process; rejects when it ends without one. */
export async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a client of the bench ended with ${String(code)}`)
  })
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message]
  return message
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
