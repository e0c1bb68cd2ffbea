import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../runtime/process/version.js'
import { eventually } from '../support/eventually.js'
import type { ComposeService } from '../support/image/compose.js'
import type { BuiltStage } from './build-image.js'
import { asService, factsIn, runContainer, startContainer, type Container } from './container.js'
import type { Inside, RootMounts } from './enter.js'

/** Where any user of a Debian may write. */
const OPEN_TO_ALL = ['/tmp', '/var/tmp', '/run/lock']
/** What only the build needs, or no server has. */
const NOT_SHIPPED = [
  ...['test', 'dist/test', '.cache', 'node_modules/mocha'],
  ...['node_modules/typescript', 'node_modules/@typescript'],
]
const BUILD_TOOLS = ['g++', 'make', 'npm', 'python3', 'curl', 'wget']
/** Refused for what only an operator can change. */
const CANNOT_START = 78

export type Check = readonly [what: string, check: () => Promise<void>]

/** What the image says of itself, without a file of any venue; `dir` is for its layers. */
export function checksOfImage(image: BuiltStage, dir: string): readonly Check[] {
  const { settings, root } = image
  const inside = (words: readonly string[], given: Partial<Inside> = {}): Inside => ({
    ...asUser(image, words),
    ...given,
  })
  const run = async (...words: string[]) => {
    const { code, output } = await runContainer(image, dir, inside(words))
    expect(code, `${words.join(' ')}: ${output}`).to.equal(0)
    return output.trim()
  }
  return [
    [
      `./venue --version says ${VERSION}, in a root that is read-only, without capabilities`,
      async () => {
        expect(await run('./venue', '--version')).to.equal(VERSION)
        const status = await run('cat', '/proc/self/status')
        expectConfined(factsIn(status), settings.user.uid)
        for (const place of ['/opt/venue', '/etc', '/var/lib', '/var/tmp', '/run/lock']) {
          const words = ['sh', '-c', `touch ${place}/x`]
          for (const given of [{}, { user: { uid: 0, gid: 0 } }]) {
            const { code, output } = await runContainer(image, dir, inside(words, given))
            expect(code, place).to.equal(1)
            expect(output, place).to.include('Read-only file system')
          }
        }
      },
    ],
    [
      'Node is one that the venue runs on, and the bus server one that syncs always',
      async () => {
        expect(await run('node', '--version')).to.match(/^v(20|22)\./)
        expect(await run('.tools/nats-server', '--version')).to.match(/v2\.(1\d|\d\d)\./)
        await run('node', '-e', "new (require('better-sqlite3'))(':memory:').close()")
      },
    ],
    [
      'the user of the image may write nowhere else than any user of a Debian',
      async () => {
        const words = ['find', '/', '-xdev', '-writable', '!', '-type', 'l']
        const { output } = await runContainer(image, dir, inside(words), {
          isReadOnly: false,
          tmpfs: [],
        })
        const found = output.split('\n').filter((line) => line.startsWith('/'))
        expect(found).to.have.members(OPEN_TO_ALL)
        expect(await run('find', '/opt/venue', '!', '-uid', '0')).to.equal('')
      },
    ],
    [
      'neither compilers nor tests are shipped',
      async () => {
        for (const path of NOT_SHIPPED)
          expect(existsSync(join(root, settings.workdir, path)), path).to.equal(false)
        for (const tool of BUILD_TOOLS) {
          const find = inside(['sh', '-c', `command -v ${tool}`])
          const { code, output } = await runContainer(image, dir, find)
          expect(code, `${tool}: ${output}`).to.not.equal(0)
        }
      },
    ],
  ]
}

/** A program as the user of the image. */
export const asUser = ({ settings }: BuiltStage, words: readonly string[]): Inside => ({
  words,
  workdir: settings.workdir,
  user: settings.user,
  env: settings.env,
  isConfined: true,
})

/** A service without a setting: its process is refused, its container stays for the operator, and is not healthy. */
export const checkRefused = (
  image: BuiltStage,
  dir: string,
  service: ComposeService,
  mounts: RootMounts = {},
): Check => [
  `${service.name} without settings ends with 78, and its container stays unhealthy until it is stopped`,
  async () => {
    const inside = asService(image.settings, service, {})
    const container = startContainer(image, dir, inside, mounts)
    await eventually(() =>
      expect(container.output()).to.include(`${service.name} does not start again by itself`),
    )
    expect(await isHealthy(image, container)).to.equal(false)
    container.signal('SIGTERM')
    expect(await container.ended, container.output()).to.equal(CANNOT_START)
  },
]

/** Whether the health check of the image passes within its time limit. */
export async function isHealthy({ settings }: BuiltStage, container: Container): Promise<boolean> {
  const { healthCheck } = settings
  if (healthCheck === undefined) throw new Error('the image has no health check')
  const { code } = await container.beside(healthCheck.words, healthCheck.timeoutMs)
  return code === 0
}

/** No right but those of its user, and no way to others. */
export function expectConfined(facts: ReadonlyMap<string, string>, uid: number): void {
  expect(facts.get('Uid')?.split('\t')).to.deep.equal(Array.from({ length: 4 }, () => `${uid}`))
  for (const name of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    expect(facts.get(name), name).to.match(/^0+$/)
  expect(facts.get('NoNewPrivs')).to.equal('1')
}

/** Carries out checks one after the other, until one fails on which the next ones stand; resolves to whether all passed. */
export async function carryOutChecks(
  checks: readonly Check[],
  { tell, isChain }: { readonly tell: (line: string) => void; readonly isChain: boolean },
): Promise<boolean> {
  let passed = 0
  for (const [what, check] of checks)
    try {
      await check()
      passed += 1
      tell(`ok      ${what}`)
    } catch (error) {
      tell(`FAILED  ${what}\n${error instanceof Error ? error.message : String(error)}`)
      if (isChain) break
    }
  return passed === checks.length
}
