import { ArcReader } from './arc-reader.ts';
import { AzureReader } from './azure-reader.ts';
import { OracleGeneralReader, U32Reader, U64Reader } from './binary-readers.ts';
import { CsvReader, type CsvColumns } from './csv-reader.ts';
import { LirsReader } from './lirs-reader.ts';
import { MooncakeReader } from './mooncake-reader.ts';
import { RecordReader } from './record-reader.ts';
import type { TraceFormat } from './trace.ts';
import type { ReaderOptions, TraceReader } from './trace-reader.ts';

/** A new reader for a format; `columns` are of CSV only. */
export function makeReader(format: TraceFormat, options: ReaderOptions, columns?: CsvColumns): TraceReader {
  switch (format) {
    case 'lirs':
      return new LirsReader(options);
    case 'arc':
      return new ArcReader(options);
    case 'u32':
      return new U32Reader(options);
    case 'u64':
      return new U64Reader(options);
    case 'oracle-general':
      return new OracleGeneralReader(options);
    case 'mooncake':
      return new MooncakeReader(options);
    case 'azure':
      return new AzureReader(options);
    case 'csv':
      return new CsvReader(options, columns);
    case 'record':
      return new RecordReader(options);
  }
}
