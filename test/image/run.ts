import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { inProject } from '../../devnet/launcher/binaries.js'
import { readCommandLine } from '../../runtime/process/command-line.js'
import { openContracts } from '../e2e/stage/contracts-owner.js'
import { readCompose } from '../support/image/compose.js'
import { readStages, UnknownLine } from '../support/image/dockerfile.js'
import { readImageLine } from '../support/image/image-lines.js'
import { buildImage, LineFailed, suiteOf } from './build-image.js'
import { carryOutChecks, checkRefused, checksOfImage } from './check-image.js'
import { checksOfVenue } from './composed-venue.js'
import { machineNetwork } from './config.js'
import { leaveRoots, needRoots, NoRoots } from './enter.js'

/** Carries out the Dockerfile and the Compose file without Docker: `npm run image-lines`. */

const USAGE = `usage: npm run image-lines -- [--build-arg NAME=VALUE ...] [--keep]

Carries out each line of the Dockerfile in a root of its own, which debootstrap makes in place of the image of Debian, and then the
containers of docs/operating/compose.yaml on it: each as its own user in a read-only root, with a chain and contracts, to a match
that is settled. Needs root, debootstrap and mounts; fails where it has not got them. About ten minutes.

  --build-arg NAME=VALUE  an argument of the build, as of docker build
  --keep                  leaves the roots in .cache/image-lines, and takes stages of the same lines from there, whatever else of the
                          tree has changed`

const { values } = readCommandLine(USAGE, {
  options: {
    'build-arg': { type: 'string', multiple: true, default: [] },
    keep: { type: 'boolean', default: false },
  },
})
const ONCE = ['--quiet', '--spider', '--timeout=20', '--tries=1']
const dir = inProject('.cache/image-lines')
const tell = (line: string) => void process.stdout.write(`${line}\n`)
const stages = readStages(readFileSync(inProject('Dockerfile'), 'utf8'))

/** The arguments of the build; where the archive of the Dockerfile cannot be reached, with the one that this machine's apt uses. */
function givenArguments(): Record<string, string> {
  const given: Record<string, string> = {}
  for (const each of values['build-arg']) {
    const [, key, value] = /^(\w+)=(.*)$/.exec(each) ?? []
    if (key === undefined || value === undefined) throw new UnknownLine(`--build-arg ${each}`)
    given[key] = value
  }
  if (given.DEBIAN_ARCHIVE !== undefined) return given
  const lines = stages.flatMap(({ instructions }) => instructions).map(readImageLine)
  const written = lines.find((line) => line.name === 'ARG' && line.key === 'DEBIAN_ARCHIVE')
  const archive = written?.name === 'ARG' ? (written.value ?? '') : ''
  if (answers(archive)) return given
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)'
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', format], {
    encoding: 'utf8',
  })
  const known = (stdout ?? '').split('\n').flatMap((line) => {
    const [uri, release = '', component] = line.split(' ')
    const isMain = component === 'main' && !/security|updates|backports/.test(release)
    return uri === undefined || !isMain ? [] : [uri.replace(/\/$/, '')]
  })
  const found = known.find(answers)
  if (found === undefined)
    throw new NoRoots(`${archive} does not answer: name another, --build-arg DEBIAN_ARCHIVE=…`)
  tell(`NOT AS WRITTEN: ${archive} does not answer, ${found} is taken`)
  return { ...given, DEBIAN_ARCHIVE: found }
}

const answers = (archive: string): boolean => {
  const release = `${archive}/dists/${suiteOf(stages[0]?.from ?? '')}/Release`
  return spawnSync('wget', [...ONCE, release]).status === 0
}

async function main(): Promise<boolean> {
  needRoots()
  const services = readCompose(readFileSync(inProject('docs/operating/compose.yaml'), 'utf8'))
  if (!values.keep) rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const place = { dir, tree: inProject('.'), network: machineNetwork(), isKept: values.keep, tell }
  const built = await buildImage(stages, { ...place, given: givenArguments() })
  const image = built.get(stages.at(-1)?.name ?? '')
  if (image === undefined) throw new UnknownLine('the Dockerfile has no stage')

  const processes = services.filter(({ entrypoint }) => entrypoint === undefined)
  const ofImage = [
    ...checksOfImage(image, dir),
    ...processes.map((service) => checkRefused(image, dir, service)),
  ]
  const isWell = await carryOutChecks(ofImage, { tell, isChain: false })
  const contracts = await openContracts()
  try {
    const checks = await checksOfVenue(image, dir, services, contracts)
    return (await carryOutChecks(checks, { tell, isChain: true })) && isWell
  } finally {
    await leaveRoots()
    await contracts.stop()
  }
}

async function clear(): Promise<void> {
  await leaveRoots()
  if (!values.keep) rmSync(dir, { recursive: true, force: true })
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    void clear().then(() => process.exit(1))
  })
try {
  const isWell = await main()
  tell(isWell ? 'all lines are carried out, and all checks passed' : 'FAILED, see above')
  process.exitCode = isWell ? 0 : 1
} catch (error) {
  const isPlain = [UnknownLine, LineFailed, NoRoots].some((type) => error instanceof type)
  if (!isPlain) throw error
  process.stderr.write(`image-lines: ${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await clear()
}
