import { expect } from 'chai'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { deploymentFile } from '../support/deployment-file.js'
import { eventually } from '../support/eventually.js'
import { readCompose } from '../support/image/compose.js'
import { readStages } from '../support/image/dockerfile.js'
import { BARE_SETTINGS } from '../support/image/image-lines.js'
import { groupsOf, idOf, makeDirectories } from '../support/operating-lists.js'
import { tempDir } from '../support/temp-dir.js'
import { buildStage, LineFailed, type BuildPlace, type BuiltStage } from './build-image.js'
import { asUser, checkRefused, expectConfined, isHealthy } from './check-image.js'
import { runContainer, startService } from './container.js'
import { leaveRoots, whyNoRoots } from './enter.js'
import { makeSmallRoot } from './small-root.js'

/** What the tree gives to the image, but for what is built, which the containers are lent. */
const SHIPPED = ['venue', 'Procfile', 'package.json', 'docs/operating']
const BUILT = ['bundle', 'node_modules']

const why = whyNoRoots()

// Without a body the runner lists it as pending: `npm run image-lines` fails there.
if (why !== undefined)
  describe('lines of the Dockerfile, in a small root of their own', () =>
    void it(`not tried: ${why}`))
else describe('lines of the Dockerfile, in a small root of their own', inSmallRoot)

function inSmallRoot(): void {
  const dir = tempDir()
  const built = new Map<string, BuiltStage>()
  const told: string[] = []
  const place = (tree: string): BuildPlace => ({
    dir: dir.path,
    tree,
    given: {},
    isKept: false,
    network: { env: {}, certificates: undefined },
    tell: (line) => told.push(line),
  })
  const stages = readStages(readFileSync(inProject('Dockerfile'), 'utf8'))
  const services = readCompose(readFileSync(inProject('docs/operating/compose.yaml'), 'utf8'))
  const lent = BUILT.map((name) => ({
    from: inProject(name),
    to: `/opt/venue/${name}`,
    isReadOnly: true,
  }))
  const gateway = services
    .filter(({ name }) => name === 'gateway')
    .map((each) => ({ ...each, volumes: [...each.volumes, ...lent] }))
  let image: BuiltStage

  before(async () => {
    chmodSync(dir.path, 0o755)
    const base = { root: join(dir.path, 'base'), settings: BARE_SETTINGS }
    makeSmallRoot(base.root)
    built.set('base', base)
    const build = join(dir.path, 'build')
    for (const name of SHIPPED)
      cpSync(inProject(name), join(build, 'opt/venue', name), { recursive: true })
    built.set('build', { root: build, settings: BARE_SETTINGS })
    const last = stages.find(({ name }) => name === 'venue')
    if (last === undefined) throw new Error('the Dockerfile has no last stage')
    image = await buildStage(last, built, place(inProject('.')))
  })
  after(async () => {
    await leaveRoots()
    dir.remove()
  })

  /** Carries out lines on the small root with a tree of these files; resolves to the root. */
  async function carryOut(lines: string, files: Readonly<Record<string, string>> = {}) {
    const tree = join(dir.path, 'tree')
    for (const folder of ['a/b', '.cache']) mkdirSync(join(tree, folder), { recursive: true })
    for (const [name, text] of Object.entries({ '.dockerignore': '*.log\n.cache\n', ...files }))
      writeFileSync(join(tree, name), text)
    const [stage] = readStages(`FROM base AS tried\n${lines}\n`)
    if (stage === undefined) throw new Error('no stage')
    // As the command does: where it builds is in the tree.
    return buildStage(stage, built, { ...place(tree), dir: join(tree, '.cache') })
  }

  it('give the image the users of the list, and a tree that belongs to root', () => {
    const passwd = readFileSync(join(image.root, 'etc/passwd'), 'utf8')
    for (const { name, user } of services) {
      expect(user.uid, name).to.equal(idOf(`venue-${name}`))
      expect(passwd).to.include(`venue-${name}:x:${user.uid}:${user.gid}:`)
    }
    expect(readFileSync(join(image.root, 'etc/group'), 'utf8')).to.include('venue-feeds:x:950:')
    expect(statSync(join(image.root, 'opt/venue/venue'))).to.include({ uid: 0, gid: 0 })
    expect(told.join('\n')).to.match(/^FROM base AS venue\n {2}\d\.\d s {2}LABEL /)
  })

  it('carry out a copy with owner and mode, leave out what is ignored, and run as the user that they name', async () => {
    const lines = [
      ...['WORKDIR /w', 'ARG WORD=said', 'ENV KEPT="two words"', 'COPY a .'],
      ...['COPY --chown=7:8 --chmod=640 a/one given', 'COPY --from=build /opt/venue/Procfile /p/'],
      ...['RUN chmod 777 .', 'USER 951:951', 'RUN echo "$WORD $KEPT $(id -u):$(id -G) $PWD" >by'],
    ]
    const files = { 'a/one': '1', 'a/b/two': '2', 'x.log': '', 'a/kept.log': '' }
    const { root, settings } = await carryOut(lines.join('\n'), files)
    const at = (path: string) => join(root, path)
    expect(readFileSync(at('w/by'), 'utf8')).to.equal('said two words 951:951 /w\n')
    expect(statSync(at('w/by')).uid).to.equal(951)
    expect(readFileSync(at('w/b/two'), 'utf8')).to.equal('2')
    const { uid, gid, mode } = statSync(at('w/given'))
    expect([uid, gid, mode & 0o777]).to.deep.equal([7, 8, 0o640])
    expect(existsSync(at('p/Procfile')) && existsSync(at('w/kept.log'))).to.equal(true)
    expect(settings.env).to.include({ KEPT: 'two words' })
    const all = await carryOut('COPY . /all', files)
    expect(existsSync(join(all.root, 'all/a/one'))).to.equal(true)
    expect(existsSync(join(all.root, 'all/x.log'))).to.equal(false)
  })

  it('that fail end the build with what they have printed', async () => {
    const failed = await carryOut('RUN echo the disk is odd >&2; exit 3').catch(
      (error: unknown) => error,
    )
    expect(failed).to.be.instanceOf(LineFailed)
    expect((failed as Error).message).to.match(/^ended with 3: RUN echo[^]*the disk is odd/)
    expect(await carryOut('COPY nothing .').catch((error: unknown) => error)).to.have.property(
      'code',
      'ENOENT',
    )
  })

  it('make a root over which no container can write', async () => {
    const write = (path: string, isReadOnly: boolean) =>
      runContainer(
        image,
        dir.path,
        { ...asUser(image, ['touch', path]), user: { uid: 0, gid: 0 } },
        { isReadOnly },
      )
    expect((await write('/opt/x', true)).output).to.include('Read-only file system')
    expect((await write('/tmp/x', true)).code).to.equal(0)
    expect((await write('/opt/x', false)).code).to.equal(0)
    expect(existsSync(join(image.root, 'opt/x'))).to.equal(false)
  })

  it('start the gateway as its user, which is healthy while it answers, and stops by SIGTERM', async () => {
    const [service] = gateway
    if (service === undefined) throw new Error('the Compose file has no gateway')
    const at = (path: string) =>
      lent.some(({ from }) => from === path) ? path : join(dir.path, 'machine', path)
    mkdirSync(at('/etc/venue/bus'), { recursive: true })
    makeDirectories('/var/lib/venue', at)
    writeFileSync(at('/etc/venue/deployment.json'), JSON.stringify(deploymentFile(8453)))
    writeFileSync(at('/etc/venue/bus/gateway.nk'), '')
    const places = { DATA_DIR: '/var/lib/venue', METRICS_DIR: '/var/lib/venue/metrics' }
    const env = {
      ...places,
      DEPLOYMENT_FILE: '/etc/venue/deployment.json',
      NATS_URL: 'nats://127.0.0.1:9',
      EXECUTOR_URL: 'http://127.0.0.1:9',
      WS_FANOUT_URL: 'ws://127.0.0.1:9',
      GATEWAY_PORT: '0',
    }
    const container = startService(image, dir.path, service, { env, at })
    await eventually(async () =>
      expect(await isHealthy(image, container), container.output()).to.equal(true),
    )
    const processes = container.processes()
    expect(processes.map(({ facts }) => facts.get('Name'))).to.include('node')
    for (const { facts } of processes) {
      expectConfined(facts, idOf('venue-gateway'))
      const groups = (facts.get('Groups') ?? '').trim().split(' ').map(Number)
      expect(groups).to.deep.equal(groupsOf('venue-gateway'))
    }
    container.signal('SIGTERM')
    expect(await container.ended, container.output()).to.equal(0)
  })

  it('end a gateway that is not set up with 78, and keep its container, unhealthy', async () => {
    const [service] = gateway
    if (service === undefined) throw new Error('the Compose file has no gateway')
    const [, check] = checkRefused(image, dir.path, service, { binds: lent })
    await check()
  })

  it('leave no process and no mount when what carries them out is killed', async () => {
    const inside = JSON.stringify(asUser(image, ['sleep', '1000']))
    const program = `
      import { startContainer } from ${JSON.stringify(inProject('dist/test/image/container.js'))}
      const container = startContainer(${JSON.stringify(image)}, ${JSON.stringify(dir.path)}, ${inside})
      while (container.processes().length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
      console.log(container.processes()[0].pid)
      await container.ended
    `
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    runner.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    try {
      await eventually(() => expect(said).to.match(/^\d+\n$/))
      expect(existsSync(`/proc/${said.trim()}`)).to.equal(true)
    } finally {
      runner.kill('SIGKILL')
    }
    await eventually(() => !existsSync(`/proc/${said.trim()}`))
    expect(readFileSync('/proc/self/mounts', 'utf8')).to.not.include(dir.path)
  })
}
