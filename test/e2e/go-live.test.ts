import { expect } from 'chai'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEther } from 'viem'
import { provideMarketFile } from '../../data/market-file.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { provideUsers } from '../../runtime/bus/nats-users.js'
import { natsServerBinary } from '../support/config.js'
import { openWorld, testKey, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { tempDir } from '../support/temp-dir.js'
import { SPOT_ALONE } from '../support/venue.js'
import { createTrader, SPOT } from './stage/trader.js'
import { ENDS_AT_LAST } from '../support/ends-at-last.js'

const EXECUTOR_KEY = testKey(1002)
const SECRET = 'a'.repeat(64)
const READY_WITHIN_MS = 90_000

describe('the samples of docs/operating, without the launcher', function () {
  const dir = tempDir()
  const children: ChildProcess[] = []
  let world: World
  let gatewayUrl: string
  let settings: Record<string, string>
  const keyFile = join(dir.path, 'keys', 'executor')
  const secretFile = join(dir.path, 'keys', 'executor-secret')
  /** The secrets of one process, as in its file of /etc/venue. */
  const own: Record<string, Readonly<Record<string, string>>> = {
    executor: { EXECUTOR_KEY_FILE: keyFile, EXECUTOR_SECRET_FILE: secretFile },
  }

  function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
    children.push(spawn(command, args, { cwd: inProject('.'), env, stdio: 'ignore' }))
  }

  before(async () => {
    world = await openWorld({ blockTime: 1 })
    await world.client.setBalance({ address: world.executor, value: parseEther('10') })
    await provideMarketFile(join(dir.path, 'markets.json'), SPOT_ALONE)
    writeFileSync(join(dir.path, 'deployment.json'), JSON.stringify(world.at))
    mkdirSync(join(dir.path, 'nats'))
    mkdirSync(join(dir.path, 'keys'), { mode: 0o700 })
    writeFileSync(keyFile, `${EXECUTOR_KEY}\n`, { mode: 0o600 })
    writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 })
    const [nats, monitor, gateway, executor, sockets] = await Promise.all(
      Array.from({ length: 5 }, freePort),
    )
    gatewayUrl = `http://127.0.0.1:${gateway}`
    const placed = (file: string) =>
      readFileSync(inProject(`docs/operating/${file}`), 'utf8')
        .replaceAll('/var/lib/venue', dir.path)
        .replaceAll('/etc/venue', dir.path)
        .replaceAll('4322', `${nats}`)
        .replaceAll('4323', `${monitor}`)
        .replaceAll('8080', `${gateway}`)
        .replaceAll('8081', `${executor}`)
        .replaceAll('8082', `${sockets}`)
        .replaceAll('https://node.example', world.anvil.rpcUrl)
        .replace('TRUSTED_PROXIES=1\nWS', 'TRUSTED_PROXIES=0\nWS')
    writeFileSync(join(dir.path, 'nats-server.conf'), placed('nats-server.conf'))
    const { keys } = await provideUsers(join(dir.path, 'bus'))
    const operators = { OPERATOR_KEYS: `operator=${keys.operator}` }
    own['order-intake'] = operators
    own.matchers = { EXECUTOR_SECRET_FILE: secretFile, ...operators }
    const lines = placed('production.env').matchAll(/^([A-Z_]+)=(.*)$/gm)
    settings = Object.fromEntries(Array.from(lines, ([, name = '', value = '']) => [name, value]))
    start(natsServerBinary(), ['--config', join(dir.path, 'nats-server.conf')], {})
    const processes = readFileSync(inProject('Procfile'), 'utf8').matchAll(/^([a-z-]+):/gm)
    for (const [, name = ''] of processes)
      start('./venue', ['run', name], { PATH: process.env.PATH, ...settings, ...own[name] })
  })
  after(async () => {
    const running = children.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    )
    const ended = running.map((child) => once(child, 'exit'))
    for (const child of children) child.kill('SIGTERM')
    const late = setTimeout(() => children.forEach((child) => child.kill('SIGKILL')), 20_000)
    await Promise.all(ended)
    clearTimeout(late)
    await world?.anvil.stop()
  })

  it('make a venue that is ready, trades and settles, and takes no cancel without a proof', async () => {
    await eventually(async () => {
      const answer = await fetch(`${gatewayUrl}/readyz`)
      expect(await answer.text()).to.include('ready')
      expect(answer.status).to.equal(200)
    }, READY_WITHIN_MS)
    const devnet = {
      ...world.at,
      gateway_url: gatewayUrl,
      rpc_url: world.anvil.rpcUrl,
      auth_domain: 'venue.example',
      accounts: [world.alice, world.bob].map(({ address, subaccountId }, i) => ({
        name: `${i}`,
        address,
        private_key: testKey(i + 1),
        spot_subaccount_id: `${subaccountId}`,
        perp_subaccount_id: '0',
      })),
    }
    const maker = createTrader(devnet, 0)
    const taker = createTrader(devnet, 1)
    const terms = { amount: '5', price: '0.00070' }
    await maker.place({ side: 'sell', ...terms })
    const { order_id: orderId } = await taker.place({ side: 'buy', ...terms })
    expect((await taker.until(orderId, 'filled')).market).to.equal(SPOT)
    const another = await maker.place({ side: 'sell', ...terms })
    const refused = await maker.cancel(another).catch((error: unknown) => error)
    expect(refused).to.have.property('code', 'cancel_proof_required')
  })

  /** Runs a command of the page as the operator does, with the settings of the processes. */
  const operator = (command: string, args: readonly string[]) =>
    spawnSync(command, [...args], {
      cwd: inProject('.'),
      encoding: 'utf8' as const,
      ...ENDS_AT_LAST,
      env: { PATH: process.env.PATH, ...settings, EXECUTOR_KEY_FILE: keyFile },
    })

  it('are what ./venue check-deployment finds complete', () => {
    const { status, stdout } = operator('./venue', ['check-deployment'])
    // Its market file has spot alone.
    const others = stdout.split('\n').filter((line) => !/^(ok|not listed) /.test(line))
    expect(others).to.deep.equal([''])
    expect(status).to.equal(0)
  })

  it('let the operator look, pause, audit and reload the bus, as docs/GO-LIVE.md says', async () => {
    const [nats] = children
    const reload = operator(natsServerBinary(), ['--signal', `reload=${nats?.pid}`])
    expect(reload.status, reload.stderr).to.equal(0)
    await eventually(() => {
      const { status, stdout } = operator('./venue', ['status'])
      expect(stdout).to.match(/: well\n/)
      expect(status).to.equal(0)
    })
    for (const [change, says] of [
      ['pause', 'paused'],
      ['resume', 'open'],
    ] as const) {
      const { status, stdout, stderr } = operator('./venue', ['market', change, SPOT])
      expect(stderr).to.equal('')
      expect(stdout).to.include(says)
      expect(status).to.equal(0)
    }
    await eventually(() => {
      const { status, stdout, stderr } = operator('./venue', ['audit'])
      expect(status, `${stdout}${stderr}`).to.equal(0)
    })
  })
})
