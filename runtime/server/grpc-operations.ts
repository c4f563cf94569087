import { readFileSync } from 'node:fs';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { Server, ServerDuplexStream, ServerWritableStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation, protoPath as healthProtoPath } from 'grpc-health-check';

/** Descriptors of all our protos; lies beside the generated code, in dist too. */
const DESCRIPTORS = new URL('../../proto/gen/descriptors.binpb', import.meta.url);
const HEALTH_SERVICE = 'grpc.health.v1.Health';
const LENGTH_DELIMITED = 2;
const REFRESH_MS = 1_000;

type OpenStream = ServerWritableStream<unknown, unknown> | ServerDuplexStream<unknown, unknown>;

/** Health and reflection. Their streams last as long as the caller likes, so that a drain must end them: `close`. */
export class GrpcOperations {
  readonly #services: readonly string[];
  readonly #isReady: () => boolean;
  readonly #health: HealthImplementation;
  readonly #open = new Set<OpenStream>();
  #refreshing: NodeJS.Timeout | undefined;
  #wasReady = false;
  #isClosed = false;

  /** `services`: full names of what is served and described. */
  constructor(services: readonly string[], isReady: () => boolean) {
    this.#services = services;
    this.#isReady = isReady;
    this.#health = new HealthImplementation();
    this.#tell('NOT_SERVING');
  }

  addTo(server: Server): void {
    const addService = (definition: Parameters<Server['addService']>[0], handlers: UntypedServiceImplementation) =>
      server.addService(definition, this.#watched(handlers));
    this.#health.addToServer({ addService } as unknown as Parameters<HealthImplementation['addToServer']>[0]);
    const reflection = new ReflectionService(describedPackages(), { services: [...this.#services, HEALTH_SERVICE] });
    reflection.addToServer({ addService } as unknown as Server);
  }

  /** Begins to keep watchers informed; a check is answered from readiness as it is then. */
  start(): void {
    this.#refresh();
    this.#refreshing = setInterval(() => this.#refresh(), REFRESH_MS).unref();
  }

  /** The same handlers, told of readiness as it is now and with their streams kept in sight. */
  #watched(handlers: UntypedServiceImplementation): UntypedServiceImplementation {
    const watched: UntypedServiceImplementation = {};
    for (const [name, handle] of Object.entries(handlers)) {
      const inner = handle as (...args: unknown[]) => unknown;
      watched[name] = (...args: unknown[]): void => {
        this.#refresh();
        const [call] = args as [OpenStream];
        inner(...args);
        if ('write' in call) this.#keep(call);
      };
    }
    return watched;
  }

  #keep(call: OpenStream): void {
    if (this.#isClosed) {
      call.end();
      return;
    }
    this.#open.add(call);
    const forget = (): void => void this.#open.delete(call);
    call.once('cancelled', forget);
    call.once('close', forget);
    call.once('finish', forget);
  }

  #refresh(): void {
    const ready = !this.#isClosed && this.#isReady();
    if (ready === this.#wasReady) return;
    this.#wasReady = ready;
    this.#tell(ready ? 'SERVING' : 'NOT_SERVING');
  }

  /** The empty name stands for the whole server. */
  #tell(status: 'SERVING' | 'NOT_SERVING'): void {
    for (const name of ['', ...this.#services]) this.#health.setStatus(name, status);
  }

  /** Tells watchers that nothing is served any more, and ends every stream. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#refreshing);
    this.#refresh();
    for (const call of this.#open) call.end();
    this.#open.clear();
  }
}

/** What reflection describes: the descriptors exactly as compiled, and those of the health service. */
function describedPackages(): PackageDefinition {
  const ours = { fileDescriptorProtos: filesOf(readFileSync(DESCRIPTORS)) };
  return { ...loadSync(healthProtoPath), reprise: ours as unknown as PackageDefinition[string] };
}

/** The files of an encoded `FileDescriptorSet`, whose field 1 they are. */
function filesOf(set: Uint8Array): Buffer[] {
  const reader = new BinaryReader(set);
  const files: Buffer[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1 && type === LENGTH_DELIMITED) files.push(Buffer.from(reader.bytes()));
    else reader.skip(type, field);
  }
  return files;
}
