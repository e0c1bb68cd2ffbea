import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { privateKeyToAddress } from 'viem/accounts'
import type { Address } from '../../core/action.js'
import { lower, testKey } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import type { ComposeService } from '../support/image/compose.js'
import { SUPERUSER } from '../support/image/image-lines.js'
import { giveFiles, makeDirectories } from '../support/operating-lists.js'
import type { OwnedContracts } from '../e2e/stage/contracts-owner.js'
import { ownSettings, placeSamples, settingsIn } from '../e2e/stage/placed-venue.js'
import { createTrader, SPOT } from '../e2e/stage/trader.js'
import type { BuiltStage } from './build-image.js'
import { expectConfined, isHealthy, type Check } from './check-image.js'
import { runContainer, startService, type Container } from './container.js'

/** The keys of the processes that sign, by the names of their directories. */
const KEYS = {
  executor: testKey(1002),
  'deposit-submitter': testKey(1011),
  'withdrawal-submitter': testKey(1012),
  keeper: testKey(1013),
} as const
const BUS = 'nats'
/** Pays the sample's least notional. */
const TERMS = { amount: '20000', price: '0.00065' }
const READY_WITHIN_MS = 90_000

/**
 * The containers of a Compose file on an image, for contracts that stand; what they see of a machine is in `dir`. Each check stands on
 * those before it.
 */
export async function checksOfVenue(
  image: BuiltStage,
  dir: string,
  services: readonly ComposeService[],
  contracts: OwnedContracts,
): Promise<readonly Check[]> {
  const host = join(dir, 'machine')
  rmSync(host, { recursive: true, force: true })
  const at = (path: string) => join(host, path)
  const { sample, gatewayUrl } = await placeSamples(contracts.rpcUrl, {
    etc: '/etc/venue',
    data: '/var/lib/venue',
  })
  const containers = new Map<string, Container>()
  const envOf = ({ envFiles }: ComposeService) => {
    const env: Record<string, string> = {}
    for (const { path, isRequired } of envFiles)
      if (isRequired || existsSync(at(path)))
        Object.assign(env, settingsIn(readFileSync(at(path), 'utf8')))
    return env
  }
  const start = (service: ComposeService) => {
    const container = startService(image, dir, service, { env: envOf(service), at })
    containers.set(service.name, container)
    return container
  }
  const of = (name: string): Container => {
    const found = containers.get(name)
    if (found === undefined) throw new Error(`there is no container ${name}`)
    return found
  }
  const running = { image, services, of }
  return [
    [
      'the operator places the files of docs/operating, and the image makes the users of the bus',
      () => placeFiles({ image, dir, at, sample, contracts }),
    ],
    [
      'the containers of the Compose file start, and the venue is ready',
      async () => {
        services.forEach(start)
        await eventually(async () => {
          const answer = await fetch(`${gatewayUrl}/readyz`)
          expect(answer.status, await answer.text()).to.equal(200)
        }, READY_WITHIN_MS)
        const health = (await (await fetch(`${gatewayUrl}/v1/health`)).json()) as object
        expect(health).to.have.property('version')
      },
    ],
    ...checksOfRights(running),
    [
      'an order of each side becomes a match that the chain settles',
      async () => {
        const place = { ...contracts.place, gateway_url: gatewayUrl }
        const [maker, taker] = [0, 1].map((name) => {
          const subaccountId = place.accounts[name]?.spot_subaccount_id ?? ''
          return createTrader(place, name, undefined, { market: SPOT, subaccountId })
        })
        if (maker === undefined || taker === undefined) throw new Error('there are no traders')
        const sold = await maker.place({ side: 'sell', ...TERMS })
        const bought = await taker.place({ side: 'buy', ...TERMS })
        await maker.until(sold.order_id, 'filled')
        await taker.until(bought.order_id, 'filled')
      },
    ],
    ...checksOfStop(running),
  ]
}

interface Running {
  readonly image: BuiltStage
  readonly services: readonly ComposeService[]
  /** The container of a service. */
  readonly of: (name: string) => Container
}

/** What each container may do. */
function checksOfRights({ image, services, of }: Running): Check[] {
  return [
    [
      'each process runs as its own user with its groups, without capabilities, and is healthy',
      async () => {
        for (const { name, user, groups, hasHealthCheck } of services) {
          const found = of(name).processes()
          expect(found, name).to.not.be.empty
          for (const { facts } of found) {
            expectConfined(facts, user.uid)
            const has = (facts.get('Groups') ?? '').split(' ').filter(Boolean).map(Number)
            expect(has, name).to.have.members([...groups])
          }
          if (hasHealthCheck) await eventually(() => isHealthy(image, of(name)))
        }
      },
    ],
    [
      'no process may write beside its directory, its metrics and /tmp',
      async () => {
        for (const { name, volumes } of services) {
          const own = volumes.filter(({ isReadOnly }) => !isReadOnly).map(({ to }) => to)
          const find =
            'find / -path /proc -prune -o -path /dev -prune -o -writable ! -type l -print'
          const { output } = await of(name).beside(['sh', '-c', find])
          const written = output.split('\n').filter((line) => line.startsWith('/'))
          const others = written.filter(
            (path) =>
              ![...own, '/tmp'].some((each) => path === each || path.startsWith(`${each}/`)),
          )
          expect(others, name).to.deep.equal([])
        }
      },
    ],
  ]
}

/** A process that is halted, then all that are stopped. */
function checksOfStop({ image, services, of }: Running): Check[] {
  const processes = services.filter(({ name }) => name !== BUS)
  return [
    [
      'a process that stands still is unhealthy, and healthy again when it goes on',
      async () => {
        const gateway = of('gateway')
        const node = gateway.processes().filter(({ facts }) => /node/.test(facts.get('Name') ?? ''))
        expect(node).to.not.be.empty
        for (const { pid } of node) process.kill(pid, 'SIGSTOP')
        expect(await isHealthy(image, gateway)).to.equal(false)
        for (const { pid } of node) process.kill(pid, 'SIGCONT')
        await eventually(() => isHealthy(image, gateway))
      },
    ],
    [
      'the containers stop in order by their signals',
      async () => {
        for (const { name } of processes) of(name).signal('SIGTERM')
        for (const { name } of processes)
          expect(await of(name).ended, `${name}: ${of(name).output().slice(-1_000)}`).to.equal(0)
        const bus = services.find(({ name }) => name === BUS)
        of(BUS).signal(bus?.stopSignal ?? 'SIGTERM')
        expect(await of(BUS).ended, of(BUS).output().slice(-1_000)).to.equal(0)
      },
    ],
  ]
}

interface Files {
  readonly image: BuiltStage
  readonly dir: string
  readonly at: (path: string) => string
  readonly sample: (file: string) => string
  readonly contracts: OwnedContracts
}

/** What docs/GO-LIVE.md lets the operator do on the machine, and the owner of the contracts on the chain. */
async function placeFiles({ image, dir, at, sample, contracts }: Files): Promise<void> {
  mkdirSync(at('/etc/venue'), { recursive: true })
  makeDirectories('/', at)
  const put = (path: string, text: string, mode = 0o644) => writeFileSync(at(path), text, { mode })
  const addressOf = (key: keyof typeof KEYS): Address => lower(privateKeyToAddress(KEYS[key]))
  const settings = sample('production.env')
  const named = `EXECUTOR_ADDRESS=${addressOf('executor')}`
  put('/etc/venue/venue.env', settings.replace('EXECUTOR_ADDRESS=', named))
  put('/etc/venue/nats-server.conf', sample('nats-server.conf'))
  put('/var/lib/venue/markets.json', sample('markets.json'))
  put('/etc/venue/deployment.json', JSON.stringify(await contracts.readKeys()))
  for (const [process, key] of Object.entries(KEYS))
    put(`/etc/venue/keys/${process}/key`, `${key}\n`, 0o600)
  const secret = randomBytes(32).toString('hex')
  for (const process of ['executor', 'matchers'])
    put(`/etc/venue/keys/${process}/secret`, `${secret}\n`, 0o600)
  for (const process of ['executor', 'deposit-submitter', 'withdrawal-submitter'] as const)
    await contracts.allow(addressOf(process))
  await contracts.nameKeeper(addressOf('keeper'))
  for (const process of Object.keys(KEYS) as (keyof typeof KEYS)[])
    await contracts.fund(addressOf(process))

  const { env, workdir } = image.settings
  const words = ['./venue', 'bus-users', '--dir', '/etc/venue/bus']
  const binds = [{ from: at('/etc/venue/bus'), to: '/etc/venue/bus', isReadOnly: false }]
  const made = await runContainer(image, dir, { words, workdir, user: SUPERUSER, env }, { binds })
  expect(made.code, made.output).to.equal(0)
  const operatorKeys = made.output.trim().split('\n').at(-1) ?? ''
  for (const [file, line] of ownSettings(settings))
    appendFileSync(at(file), `${line === 'OPERATOR_KEYS' ? operatorKeys : line}\n`, { mode: 0o600 })
  giveFiles(at)
}
