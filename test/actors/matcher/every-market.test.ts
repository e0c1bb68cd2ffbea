import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { identify } from '../../../devnet/launcher/pids.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { testAddresses } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { tempDir } from '../../support/temp-dir.js'

const main = inProject('bundle/actors/matcher/main.js')
const isGone = (pid: number) => identify(pid) === undefined

/** Of the shipped market file, the deployment has this market alone. */
const DEPLOYED = ['cNGN-USDC']

describe('the matchers of the market data as processes', function () {
  before(provideBundles)
  let server: TestNatsServer
  const dir = tempDir()
  const running: ChildProcess[] = []
  before(async () => {
    server = await startNatsServer()
    writeFileSync(join(dir.path, 'deployment.json'), JSON.stringify(testAddresses))
  })
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
  })
  after(async () => {
    await server.stop()
    dir.remove()
  })

  /** Starts the program without MARKET; resolves when every market's matcher is ready. */
  async function start() {
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        NATS_URL: server.url,
        DEPLOYMENT_FILE: join(dir.path, 'deployment.json'),
        EXECUTOR_URL: 'http://127.0.0.1:9',
        EXECUTOR_SECRET: 's'.repeat(32),
      },
    })
    running.push(child)
    let log = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
    const pids = () => [...log.matchAll(/"pid":(\d+),"msg":"matcher started"/g)].map(pidOf)
    await untilReady()
    return { child, pids, log: () => log }
  }
  const pidOf = ([, pid]: RegExpMatchArray): number => Number(pid)

  async function untilReady() {
    const bus = await connectNatsBus({ url: server.url, name: 'test' })
    for (const market of DEPLOYED) {
      await eventually(async () => {
        const answer = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), 500)
        expect(decodePingAnswer(answer).ready).to.equal(true)
      })
    }
    await bus.close()
  }

  it('are started for every market on the deployment, again after a crash, and end in order on SIGTERM', async () => {
    const { child, pids, log } = await start()
    const [first = 0] = pids()
    expect(pids()).to.have.length(DEPLOYED.length)
    expect(log()).to.include(
      '"msg":"cNGN-PERP is not listed: the deployment has no perp_asset and no perp_trade_module"',
    )
    process.kill(first, 'SIGKILL')
    await eventually(() => pids().length > DEPLOYED.length)
    await untilReady()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).to.deep.equal([0, null])
    expect(pids().every(isGone)).to.equal(true)
    expect(log()).to.match(/"name":"matcher-[^"]+".*"reason":"(SIGTERM|parent gone)"/)
  })

  it('end when the program that started them is killed', async () => {
    const { child, pids } = await start()
    child.kill('SIGKILL')
    await eventually(() => pids().every(isGone))
  })
})
