import { WIRE_VERSION } from '../../bus-schemas/envelope.js'
import type { BusUser } from '../../bus-schemas/permissions.js'
import { CannotStart } from '../../core/cannot-start.js'
import { StreamMissing, type Bus } from './bus.js'
import { busPlace, type BusSettings } from './nats-access.js'
import { connectNatsBus, type NatsBusOptions } from './nats-bus.js'

/**
 * The version of the messages that this build writes into each stream, by name; it reads none newer, and none
 * below WIRE_VERSION. Every stream carries
 * the greatest version that was written into it, so that an older build refuses it at start and not at some message later.
 */
export type StreamVersions = ReadonlyMap<string, number>

/** A stream holds messages of a version that this build cannot read. */
export class NewerStream extends CannotStart {
  override readonly name = 'NewerStream'
}

/** A stream holds messages of a release whose data this build does not read any more. */
export class OlderStream extends CannotStart {
  override readonly name = 'OlderStream'
}

/**
 * Throws NewerStream when a newer release has written into one of the streams, and OlderStream when only one before 0.3.0 has; one
 * that does not exist holds nothing.
 */
export async function assertReadable(
  bus: Pick<Bus, 'streamVersion'>,
  versions: StreamVersions,
): Promise<void> {
  for (const [stream, known] of versions) {
    const written = await versionOf(bus, stream)
    if (written > 0 && written < WIRE_VERSION) {
      throw new OlderStream(
        `the stream ${stream} holds messages of version ${written}, of a release before 0.3.0, which this build does not read: ` +
          'run that release, or begin with an empty store (docs/UPGRADING.md)',
      )
    }
    if (written <= known) continue
    throw new NewerStream(
      `the stream ${stream} holds messages of version ${written}, this build reads up to version ${known}: ` +
        'run the release that wrote them, or a newer one (docs/UPGRADING.md)',
    )
  }
}

/** Version 0 for a stream into which nothing was written. */
async function versionOf(bus: Pick<Bus, 'streamVersion'>, stream: string): Promise<number> {
  try {
    return await bus.streamVersion(stream)
  } catch (error) {
    if (error instanceof StreamMissing) return 0
    throw error
  }
}

/**
 * Records, before its first message, that this build writes into the streams. `onRaised` is called for each that gets a newer
 * version than before: there is no way back from there. Throws as assertReadable.
 */
export async function recordVersions(
  bus: Pick<Bus, 'streamVersion' | 'raiseStreamVersion'>,
  versions: StreamVersions,
  onRaised: (message: string) => void,
): Promise<void> {
  await assertReadable(bus, versions)
  for (const [stream, version] of versions) {
    const before = await bus.streamVersion(stream)
    if (before >= version) continue
    await bus.raiseStreamVersion(stream, version)
    if (before === 0) continue
    onRaised(
      `${stream} gets messages of version ${version} from now on: a release that reads up to version ${before} ` +
        'cannot run this venue any more',
    )
  }
}

export interface VenueBusOptions extends Pick<NatsBusOptions, 'onWarning'> {
  /** The settings of `busEnv`. */
  readonly config: BusSettings
  readonly user: BusUser
  /** Shown by the server's monitoring; the user's by default. */
  readonly name?: string
  readonly versions: StreamVersions
}

/** connectNatsBus for a process of the venue. Also throws as assertReadable. */
export async function connectVenueBus(options: VenueBusOptions): Promise<Bus> {
  const { config, versions, name = options.user, ...rest } = options
  const bus = await connectNatsBus({ ...busPlace(config), ...rest, name })
  try {
    await assertReadable(bus, versions)
  } catch (error) {
    await bus.close()
    throw error
  }
  return bus
}
