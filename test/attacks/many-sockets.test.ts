import { expect } from 'chai'
import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import type { Hex } from '../../core/action.js'
import { connectToVenueBus } from '../support/venue-bus.js'
import { signedAuth } from '../support/auth-frames.js'
import { eventually } from '../support/eventually.js'
import { connectSocket, type SocketClient } from '../support/socket-client.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { SPOT } from '../e2e/stage/trader.js'

const SOCKETS = 200
const LEASE_SEC = 10
/** Half of the lease's time, in which it is written once. */
const RENEWED_EVERY_MS = (LEASE_SEC / 2) * 1_000
const PAGE = 1_000

/** Many sockets of one key, each of which asks for the shortest lease. */
describe('the sockets of one key', function () {
  const sockets: SocketClient[] = []
  let venue: TestVenue
  before(async () => {
    venue = await startVenue({ env: { WS_MAX_SOCKETS_PER_ADDRESS: `${2 * SOCKETS}` } })
  })
  after(async () => {
    for (const { ws } of sockets) ws.terminate()
    await venue?.stop()
  })

  async function openLease(): Promise<void> {
    const { auth_domain: domain, accounts } = venue.devnet
    const socket = await connectSocket(`${venue.gatewayUrl.replace(/^http/, 'ws')}/v1/ws`)
    sockets.push(socket)
    socket.send(await signedAuth({ domain, privateKey: accounts[0]?.private_key as Hex }))
    await socket.next(({ type }) => type === 'ack')
    socket.send({ op: 'cancel_on_disconnect', seconds: LEASE_SEC })
    await socket.next(({ type }) => type === 'lease')
  }

  /** When the market's log has written a lease, unix milliseconds. */
  async function writes(): Promise<number[]> {
    const bus = await connectToVenueBus(venue.dataDir, 'auditor')
    try {
      const messages = await bus.read(commandsStream(SPOT), 1, PAGE)
      const { decode } = commandMessages({ contractType: 'spot' })
      return messages
        .flatMap(({ data }) => decode(data))
        .filter(({ command }) => command.kind === 'SetLease')
        .map(({ atMs }) => atMs)
    } finally {
      await bus.close()
    }
  }

  it('cause the writes of one lease', async () => {
    await Promise.all(Array.from({ length: SOCKETS }, openLease))
    await eventually(async () => (await writes()).length >= 3)
    const atMs = await writes()
    const elapsedMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0)
    // A late timer may be followed by one in time.
    expect(atMs.length).to.be.at.most(2 + elapsedMs / RENEWED_EVERY_MS)
  })
})
