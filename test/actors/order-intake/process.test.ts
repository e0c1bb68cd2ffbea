import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import type { OrderReply } from '../../../bus-schemas/orders.js'
import { commandsStream, commandsSubject } from '../../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { testAddresses, testDomain, type OrderBody } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { ask, signedBody } from '../../support/intake-stage.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { tempDir } from '../../support/temp-dir.js'

const ORDERS = 300
const KILLS = 4
const STANDBY_LOOKS_MS = 1_500
const market = 'cNGN-USDC'
const main = inProject('bundle/actors/order-intake/main.js')

describe('the order-intake process', function () {
  before(provideBundles)
  const directory = tempDir()
  let server: TestNatsServer
  let bus: Bus
  let matcher: FakeMatcher
  let intake: ChildProcess

  before(async () => {
    server = await startNatsServer()
    bus = await connectNatsBus({ url: server.url, name: 'test' })
    const stream = commandsStream(market)
    const subject = commandsSubject(market)
    await bus.declareStream({ stream, subject, description: 'test' })
    matcher = await startFakeMatcher(bus, market)
    writeDeployment()
    intake = start()
  })

  after(async () => {
    intake.kill('SIGKILL')
    await matcher.stop()
    await bus.close()
    await server.stop()
    directory.remove()
  })

  const deploymentFile = join(directory.path, 'deployment.json')
  const writeDeployment = (): void => {
    const unused = `0x${'11'.repeat(20)}`
    const names = [
      'sub_accounts',
      'deposit_module',
      'withdrawal_module',
      'usdc',
      'cngn',
      'cash_asset',
    ]
    const deployment = {
      chain_id: testDomain.chainId,
      matching: testDomain.verifyingContract,
      ...Object.fromEntries(names.map((name) => [name, unused])),
      ...testAddresses,
    }
    writeFileSync(deploymentFile, JSON.stringify(deployment))
  }
  const start = (standby: Record<string, string> = {}): ChildProcess => {
    const env = {
      NATS_URL: server.url,
      // No server listens there: the chain cannot be read, and orders are taken all the same.
      RPC_URL: 'http://127.0.0.1:9',
      DEPLOYMENT_FILE: deploymentFile,
      DATA_DIR: directory.path,
      LOG_LEVEL: 'error',
      ...standby,
    }
    return spawn(process.execPath, [main], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  }
  const place = async (body: OrderBody, timeoutMs: number): Promise<OrderReply | undefined> => {
    try {
      return await ask(bus, 'place', body, { timeoutMs })
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  }
  /** As a careful client does: while the outcome is unknown, the same order again. */
  const placeUntilKnown = async (body: OrderBody): Promise<OrderReply> => {
    for (;;) {
      const answer = await place(body, 1_500)
      if (answer !== undefined) return answer
      await delay(50)
    }
  }

  it(`loses and doubles nothing when it is killed ${KILLS} times under load`, async () => {
    const signed = await Promise.all(Array.from({ length: ORDERS }, () => signedBody()))
    let next = 0
    const answers: OrderReply[] = []
    const client = async (): Promise<void> => {
      for (let body = signed[next++]; body !== undefined; body = signed[next++]) {
        answers.push(await placeUntilKnown(body))
      }
    }
    const clients = Array.from({ length: 32 }, client)
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await eventually(() => answers.length > (kill * ORDERS) / (KILLS + 2))
      const exited = once(intake, 'exit')
      intake.kill('SIGKILL')
      await exited
      intake = start()
    }
    await Promise.all(clients)
    for (const answer of answers) {
      if (answer.kind === 'refused') expect(answer.refusal.status).to.equal(409)
    }
    // An answer 409 may come before the matcher has read the order.
    await eventually(() => matcher.taken.length >= signed.length)
    const ids = matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.orderId : command.kind,
    )
    expect([...ids].sort()).to.deep.equal(signed.map(({ order_id }) => order_id).sort())
  })

  it('is followed by a standby, which takes over with what was taken', async () => {
    const other = tempDir()
    const standby = start({ STANDBY: '1', DATA_DIR: other.path })
    try {
      const first = await signedBody()
      const second = await signedBody()
      await placeUntilKnown(first)
      const storedIn = () => existsSync(join(other.path, 'intake.db'))
      await eventually(storedIn)
      // Were it working beside the other one, that one would have ended.
      await delay(STANDBY_LOOKS_MS)
      expect(intake.exitCode).to.equal(null)
      const exited = once(intake, 'exit')
      intake.kill('SIGKILL')
      await exited
      expect((await placeUntilKnown(second)).kind).to.not.equal('refused')
      // While the chain is silent the market is asked about a repeat: its signer may be code.
      expect((await placeUntilKnown(first)).kind).to.equal('refused')
      const placed = matcher.taken.flatMap(({ command }) =>
        command.kind === 'PlaceOrder' ? [command.order.orderId] : [],
      )
      expect(placed.slice(-2)).to.deep.equal([first.order_id, second.order_id])
      expect(matcher.taken.at(-1)?.command).to.include({
        kind: 'RepeatOrder',
        orderId: first.order_id,
      })
    } finally {
      standby.kill('SIGKILL')
      other.remove()
      intake = start()
      await placeUntilKnown(await signedBody())
    }
  })

  it('ends with 0 on SIGTERM', async () => {
    const exited = once(intake, 'exit')
    intake.kill('SIGTERM')
    expect(await exited).to.deep.equal([0, null])
  })
})
