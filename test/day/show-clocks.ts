import { execFileSync } from 'node:child_process'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { startAnvil } from '../support/anvil.js'
import { startNatsServer } from '../support/nats-server.js'

/** Prints the clock of each kind of program that a venue runs, in unix seconds, as one object of JSON. */

const [server, chain] = await Promise.all([startNatsServer(), startAnvil()])
const bus = await connectNatsBus({ url: server.url, name: 'show-clocks' })
await bus.declareStream({ stream: 'CLOCKS', subject: 'clocks', description: 'one message' })
await bus.append('clocks', new Uint8Array())
const stored = await bus.lastMessage('CLOCKS')
await chain.client.mine({ blocks: 1 })
const block = await chain.client.getBlock()
const clocks = {
  node: Date.now() / 1_000,
  child: Number(execFileSync('date', ['+%s'], { encoding: 'utf8' })),
  bus: (stored?.storedAtMs ?? 0) / 1_000,
  chain: Number(block.timestamp),
}
process.stdout.write(`${JSON.stringify(clocks)}\n`)
await bus.close()
await Promise.all([server.stop(), chain.stop()])
