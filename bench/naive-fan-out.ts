import { WebSocketServer, type WebSocket } from 'ws'
import { decodeBlock } from '../bus-schemas/blocks.js'
import { feedStream } from '../bus-schemas/subjects.js'
import { bookUpdate } from '../core/records/frames.js'
import { loadDeployedMarkets } from '../data/markets.js'
import { connectNatsBus } from '../runtime/bus/nats-bus.js'

/**
 * The peer of the fan-out, a process of its own: the same stream and the same frames, but each frame is encoded and
 * sent for each client separately. Arguments: address of the bus, deployment file, port, sequence of the first block.
 */
const [url = '', deployment = '', port = '0', fromSeq = '1'] = process.argv.slice(2)
const [market] = loadDeployedMarkets({ DEPLOYMENT_FILE: deployment }).markets
if (market === undefined) throw new Error('there is no market')
const clients = new Set<WebSocket>()

const server = new WebSocketServer({
  port: Number(port),
  host: '127.0.0.1',
  perMessageDeflate: false,
})
server.on('connection', (ws) => {
  ws.once('message', () => {
    clients.add(ws)
    ws.send(JSON.stringify({ type: 'ack', message: 'subscribed' }))
  })
  ws.on('close', () => clients.delete(ws))
  ws.on('error', () => clients.delete(ws))
})

const bus = await connectNatsBus({ url, name: 'naive-fan-out' })
await bus.follow({
  stream: feedStream(market.market),
  fromSeq: Number(fromSeq),
  onMessage({ data }) {
    for (const change of decodeBlock(data).changes) {
      for (const ws of clients) ws.send(JSON.stringify(bookUpdate(market, change)))
    }
  },
  onError: (error) => {
    throw error
  },
})
process.send?.('ready')
process.once('disconnect', () => process.exit(0))
