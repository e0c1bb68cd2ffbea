import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { provideMarketFile } from '../data/market-file.js'
import { inProject } from '../devnet/launcher/binaries.js'
import { natsServerBinary } from './support/config.js'
import { testKey } from './support/devnet-world.js'
import { freePort } from './support/free-port.js'
import { readPage } from './support/page-commands.js'
import {
  RECORDED_NODE,
  recordedNode,
  serveRecordedNode,
  type ServedRpc,
} from './support/recorded-node.js'
import { tempDir } from './support/temp-dir.js'
import { SPOT_ALONE, SPOT_AND_PERP } from './support/venue.js'

const SAMPLES = 'docs/operating'
const page = readPage('docs/GO-LIVE.md')

describe('docs/GO-LIVE.md, tried against a recorded node', function () {
  const dir = tempDir()
  const recorded = recordedNode.parse(JSON.parse(readFileSync(inProject(RECORDED_NODE), 'utf8')))
  const nodes: ServedRpc[] = []
  const deploymentFile = join(dir.path, 'deployment.json')
  const marketsFile = join(dir.path, 'markets.json')

  before(() => writeFileSync(deploymentFile, JSON.stringify(recorded.deployment)))
  after(async () => {
    for (const node of nodes) await node.stop()
    dir.remove()
  })

  /** `lacks` names a method that the node does not have. */
  async function serve(
    answers: 'complete' | 'faulty',
    { isOld = false, lacks = 'none' }: { readonly isOld?: boolean; readonly lacks?: string } = {},
  ): Promise<string> {
    const known = Object.entries(recorded[answers]).filter(([asked]) => !asked.startsWith(lacks))
    const nowSec = Math.floor(Date.now() / 1_000)
    const node = await serveRecordedNode(Object.fromEntries(known), isOld ? {} : { nowSec })
    nodes.push(node)
    return node.rpcUrl
  }

  interface Ended {
    readonly code: number
    readonly lines: readonly string[]
  }

  /** A line of the page as a shell runs it. Not synchronously: the node is in this process. */
  const run = (line: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd: inProject('.'), env: { PATH: process.env.PATH, ...env } }
      const child = execFile('sh', ['-c', line], options, (_, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.split('\n').filter((each) => each !== '')
        resolve({ code: child.exitCode ?? -1, lines })
      })
    })

  async function check(rpcUrl: string, markets: readonly string[] = SPOT_ALONE): Promise<Ended> {
    rmSync(marketsFile, { force: true })
    await provideMarketFile(marketsFile, markets)
    const { executor, depositSubmitter, withdrawalSubmitter } = recorded.senders
    return run(
      page.block('./venue check-deployment', {
        'https://node.example': rpcUrl,
        '=deployment.json': `=${deploymentFile}`,
        '=markets.json': `=${marketsFile}`,
        '--executor 0x…': `--executor ${executor}`,
        '--deposit-submitter 0x…': `--deposit-submitter ${depositSubmitter}`,
        '--withdrawal-submitter 0x…': `--withdrawal-submitter ${withdrawalSubmitter}`,
      }),
    )
  }
  const isListed = (line: string) => !line.startsWith('not listed ')
  const notOk = ({ lines }: Ended) =>
    lines.filter((line) => !line.startsWith('ok ') && isListed(line))

  it('finds a complete deployment: each line says ok', async () => {
    const found = await check(await serve('complete'))
    expect(notOk(found)).to.deep.equal([])
    expect(found.lines.length).to.be.above(10)
    const without = `is a market of the venue: the deployment has its contracts, but ${marketsFile} has no row of it`
    const named = found.lines
      .filter((line) => !isListed(line))
      .map((line) => line.replace(/USDC-cNGN-\w+/, 'a series'))
    expect(named).to.deep.equal([
      `not listed  cNGN-PERP: ${without}`,
      `not listed  a series: ${without}`,
    ])
    expect(found.code).to.equal(0)
  })

  it('names each fault of a deployment with its cure, and exits with 1', async () => {
    const found = await check(await serve('faulty'))
    const { matching, batch_executor: batch, withdrawal_module: module } = recorded.deployment
    const { spot_manager: manager } = recorded.deployment
    const { depositSubmitter, withdrawalSubmitter } = recorded.senders
    const isTried = (line: string) => line.includes(' passes in a simulation: ')
    const faults = notOk(found).filter((line) => !isTried(line))
    const expected = [
      `FAILED   the executor may settle: ${batch} is not a trade executor`,
      `setTradeExecutor(${depositSubmitter}, true) on ${matching}`,
      `setAllowedModule(${module}, true) on ${matching}`,
      `${withdrawalSubmitter} has 1 wei, its reserve is 10000000000000000: send gas money`,
      `FAILED   cNGN-USDC: fees can be credited: ${recorded.deployment.spot_trade_module} may credit 7 of`,
    ]
    for (const text of expected)
      expect(
        faults.filter((line) => line.includes(text)),
        text,
      ).to.have.length(1)
    expect(faults).to.have.length(expected.length)
    const noExecutor = (what: string, sender: unknown) =>
      `FAILED   ${what} reverts with M_OnlyTradeExecutor: setTradeExecutor(${String(sender)}, true) on ${matching}`
    const noModule = (token: string) =>
      `FAILED   a withdrawal of ${token} under ${manager} passes in a simulation: the withdrawal reverts with M_OnlyAllowedModule: setAllowedModule(${module}, true) on ${matching}`
    expect(notOk(found).filter(isTried)).to.deep.equal([
      noExecutor('cNGN-USDC: a match passes in a simulation: the match', batch),
      noExecutor('a deposit by the venue passes in a simulation: the deposit', depositSubmitter),
      noModule('wrapped_cngn'),
      noModule('wrapped_usdc'),
    ])
    expect(found.code).to.equal(1)
  })

  it('says of a node that cannot simulate what was not checked, and exits with 2', async () => {
    for (const [lacks, why] of [
      ['eth_simulateV1', 'the node simulates no calls in a row with overrides (eth_simulateV1)'],
      ['eth_createAccessList', 'the node answers no eth_createAccessList'],
    ] as const) {
      const found = await check(await serve('complete', { lacks }))
      // A match, a deposit by the venue, and both ways of the two tokens.
      expect(notOk(found)).to.have.length(6)
      for (const line of notOk(found))
        expect(line)
          .to.match(/^not checked {2}.* in a simulation: /)
          .and.satisfy((text: string) => text.endsWith(why))
      expect(found.code).to.equal(2)
    }
  })

  it('says that prices are old, that a node does not answer, and that it is another chain', async () => {
    const rpcUrl = await serve('complete', { isOld: true })
    const old = await check(rpcUrl, SPOT_AND_PERP)
    expect(notOk(old)).to.have.length(2)
    expect(notOk(old)[0]).to.match(
      /^FAILED {3}the chain moves: the newest block, \d+, is \d+ s old: /,
    )
    expect(notOk(old)[1]).to.match(/^FAILED {3}cNGN-PERP: prices are fresh: held: chain_stale; /)
    expect(old.code).to.equal(1)

    const silent = await check(`http://127.0.0.1:${await freePort()}`)
    expect(silent.lines[0]).to.match(/^unknown {2}chain and contracts: no answer from the chain/)
    expect(silent.lines.filter((line) => line.startsWith('FAILED'))).to.deep.equal([])
    expect(silent.code).to.equal(1)

    writeFileSync(deploymentFile, JSON.stringify({ ...recorded.deployment, chain_id: 1 }))
    const other = await check(rpcUrl)
    writeFileSync(deploymentFile, JSON.stringify(recorded.deployment))
    expect(notOk(other).join()).to.contain('correct DEPLOYMENT_FILE or RPC_URL')
    expect(other.code).to.equal(1)
  })

  it('has keys that the check takes, and refuses a key that others may read', async () => {
    const keys = join(dir.path, 'keys')
    mkdirSync(keys, { mode: 0o700 })
    const secret = await run(page.span('openssl '))
    expect(secret.lines[0]).to.match(/^[0-9a-f]{64}$/)

    const owners = { EXECUTOR: 1002, DEPOSIT_SUBMITTER: 1011, WITHDRAWAL_SUBMITTER: 1012 }
    const settings = Object.fromEntries(
      Object.entries(owners).map(([owner, n]) => {
        const file = join(keys, owner.toLowerCase())
        writeFileSync(file, `${testKey(n)}\n`, { mode: 0o600 })
        return [`${owner}_KEY_FILE`, file]
      }),
    )
    rmSync(marketsFile, { force: true })
    await provideMarketFile(marketsFile, SPOT_ALONE)
    const env = {
      ...settings,
      RPC_URL: await serve('complete'),
      DEPLOYMENT_FILE: deploymentFile,
      MARKETS_FILE: marketsFile,
    }
    const found = await run('./venue check-deployment', env)
    expect(notOk(found)).to.deep.equal([])
    expect(found.code).to.equal(0)

    writeFileSync(join(keys, 'open'), `${testKey(1002)}\n`, { mode: 0o644 })
    const open = { ...env, EXECUTOR_KEY_FILE: join(keys, 'open') }
    const refused = await run('./venue check-deployment', open)
    expect(refused.lines.join()).to.contain(join(keys, 'open'))
    expect(refused.code).to.be.above(0)
  })

  it('makes users of the bus that nats-server takes with its sample', async () => {
    const bus = join(dir.path, 'bus')
    const made = await run(
      page.block('./venue bus-users', {
        '/etc/venue/bus': bus,
        // What it does is shown by test/operating-samples.test.ts; here it would change the machine.
        'systemd-tmpfiles --create': 'true',
      }),
    )
    expect(made.code, made.lines.join('\n')).to.equal(0)
    expect(made.lines.at(-1)).to.match(/^OPERATOR_KEYS=operator=U[A-Z2-7]{55}$/)
    expect(statSync(join(bus, 'operator.nk')).mode & 0o777).to.equal(0o600)
    mkdirSync(join(dir.path, 'etc'))
    cpSync(bus, join(dir.path, 'etc/bus'), { recursive: true })
    const sample = readFileSync(inProject(`${SAMPLES}/nats-server.conf`), 'utf8')
    const file = join(dir.path, 'etc/nats-server.conf')
    writeFileSync(file, sample.replaceAll('/etc/venue', join(dir.path, 'etc')))
    const tested = await run(`'${natsServerBinary()}' -t --config '${file}'`)
    expect(tested.code, tested.lines.join('\n')).to.equal(0)
  })
})
