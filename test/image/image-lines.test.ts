import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { inProject } from '../../devnet/launcher/binaries.js'
import { readCompose } from '../support/image/compose.js'
import { readStages, UnknownLine } from '../support/image/dockerfile.js'
import { createIgnored } from '../support/image/ignored-paths.js'
import { BARE_SETTINGS, readImageLine, settle } from '../support/image/image-lines.js'

const lineOf = (text: string) => {
  const [stage] = readStages(`FROM debian AS base\n${text}`)
  const [instruction] = stage?.instructions ?? []
  if (instruction === undefined) throw new Error(`no instruction: ${text}`)
  return readImageLine(instruction)
}

describe('lines of an image', () => {
  it('are read as Docker reads them', () => {
    expect(lineOf('RUN a "$B" \\\n  && c')).to.deep.equal({
      name: 'RUN',
      words: ['/bin/sh', '-c', 'a "$B"    && c'],
    })
    expect(lineOf('CMD ["a b", "c"]')).to.deep.equal({ name: 'CMD', words: ['a b', 'c'] })
    expect(lineOf('ENV A=1 B="2 3"')).to.deep.equal({ name: 'ENV', pairs: { A: '1', B: '2 3' } })
    expect(lineOf('COPY --from=build --chown=1:2 --chmod=640 /a b c/')).to.deep.equal({
      name: 'COPY',
      from: 'build',
      owner: { uid: 1, gid: 2 },
      mode: 0o640,
      sources: ['/a', 'b'],
      target: 'c/',
    })
    expect(lineOf('HEALTHCHECK --timeout=5s --retries=3 CMD ["x"]')).to.deep.equal({
      name: 'HEALTHCHECK',
      words: ['x'],
      timeoutMs: 5_000,
    })
  })

  it('that cannot be carried out as Docker would are refused', () => {
    for (const text of [
      ...['ADD . .', 'SHELL ["bash"]', 'VOLUME /data', 'ONBUILD RUN a', 'STOPSIGNAL 9'],
      ...['RUN --mount=type=cache,target=/x a', 'CMD ["a"', 'CMD [1]', 'run a', 'ENV A 1'],
      ...['COPY --link . .', 'COPY a*.ts b/', 'COPY ../a b', 'COPY a b c', 'COPY a'],
      ...['COPY --chown=venue:venue a b', 'COPY --chmod=u+x a b', 'COPY ["a", "b"]'],
      ...['USER venue', 'USER 951', 'WORKDIR venue', 'WORKDIR $HOME', 'ENV A=$B'],
      ...['HEALTHCHECK NONE', 'HEALTHCHECK --timeout=soon CMD a', 'FROM a AS b c', 'FROM a'],
    ])
      expect(() => lineOf(text), text).to.throw(UnknownLine)
    expect(() => readStages('ARG A=1\nFROM a AS b')).to.throw(UnknownLine, 'before the first FROM')
  })

  it('set what follows them, with the arguments of the build before those of the file', () => {
    const lines = ['ARG A=1', 'ARG B=2', 'ARG C', 'ENV D=4', 'WORKDIR /w', 'USER 5:6', 'CMD ["x"]']
    const given = { B: '3', OTHER: '9' }
    const after = (texts: readonly string[]) =>
      texts.map(lineOf).reduce((before, line) => settle(before, line, given), BARE_SETTINGS)
    const settings = after(lines)
    expect(settings.args).to.deep.equal({ A: '1', B: '3' })
    expect(settings.env).to.include({ D: '4' }).and.have.property('PATH')
    expect([settings.workdir, settings.user, settings.command]).to.deep.equal([
      ...['/w', { uid: 5, gid: 6 }],
      ['x'],
    ])
    expect(after([...lines, 'ENTRYPOINT ["y"]']).command).to.deep.equal([])
  })

  it('of the Dockerfile are all known', () => {
    const stages = readStages(readFileSync(inProject('Dockerfile'), 'utf8'))
    const lines = stages.flatMap(({ instructions }) => instructions.map(readImageLine))
    expect(lines.length).to.be.above(15)
  })

  it('send no ignored path of the tree', () => {
    const isIgnored = createIgnored('.git\nvar\n**/*.log\n**/cache\n')
    for (const path of ['.git', '.git/config', 'var/x', 'a.log', 'b/c.log', 'b/cache/d'])
      expect(isIgnored(path), path).to.equal(true)
    for (const path of ['', '.gitignore', 'data/var', 'a.logs', 'bcache'])
      expect(isIgnored(path), path).to.equal(false)
    for (const line of ['!kept', 'a/**/b', '[ab]'])
      expect(() => createIgnored(line), line).to.throw(UnknownLine)
  })
})

describe('a Compose file', () => {
  const text = readFileSync(inProject('docs/operating/compose.yaml'), 'utf8')

  it('is read with the user, the settings and the volumes of each service', () => {
    const services = readCompose(text)
    expect(services).to.have.length(11)
    const of = (name: string) => services.find((each) => each.name === name)
    expect(of('nats')).to.deep.include({
      user: { uid: 961, gid: 961 },
      groups: [],
      command: undefined,
      hasHealthCheck: false,
      stopSignal: 'SIGUSR2',
      tmpfs: ['/tmp'],
      environment: { NODE_OPTIONS: '' },
    })
    expect(of('gateway')).to.deep.include({
      user: { uid: 951, gid: 951 },
      groups: [949, 950],
      entrypoint: undefined,
      command: ['gateway'],
      hasHealthCheck: true,
      stopSignal: 'SIGTERM',
      envFiles: [
        { path: '/etc/venue/venue.env', isRequired: true },
        { path: '/etc/venue/gateway.env', isRequired: false },
      ],
    })
    expect(of('gateway')?.volumes.map(({ isReadOnly }) => isReadOnly)).to.deep.equal([
      ...[true, true, false, false],
    ])
  })

  it('with another line is refused', () => {
    for (const [from, to] of [
      ['read_only: true', 'read_only: false'],
      ["cap_drop: ['ALL']", "cap_drop: ['NET_RAW']"],
      ['  init: true\n', ''],
      ["    command: ['gateway']\n", "    command: ['gateway']\n    privileged: true\n"],
      ["user: '951:951'", "user: 'venue'"],
      ['deployment.json:ro', 'deployment.json:z'],
      ["tmpfs: ['/tmp']", 'tmpfs: /tmp'],
      ['services:\n', 'services:\n   - odd\n'],
    ] as const) {
      expect(text).to.include(from)
      expect(() => readCompose(text.replace(from, to)), to).to.throw(UnknownLine)
    }
  })
})
