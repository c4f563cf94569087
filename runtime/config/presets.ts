import type { DomainRule } from '../ports/options.ts';
import { DEFAULT_DOMAIN_SETTINGS, type DomainSettings, type Settings } from './schema.ts';

/** A domain's settings, with the threshold that holds where neither anybody nor a calibration sets one. */
export type NamedDomainSettings = DomainSettings & { readonly referenceMin?: number };

/** Domains and rules that come with Reprise. */
export interface Preset {
  readonly domains: Readonly<Record<string, NamedDomainSettings>>;
  readonly rules: readonly DomainRule[];
}

/**
 * A domain that needs a calibration of its own name before it serves. `referenceMin` is the threshold of the reference article, on the
 * cosine scale of bge-small; on another embedder's scale it means nothing, and until calibrated it only says what is observed.
 */
function clinicalDomain(name: string, referenceMin: number): NamedDomainSettings {
  return { ...DEFAULT_DOMAIN_SETTINGS, referenceMin, calibration: name, uncalibrated: 'observe' };
}

/** Word lists of our own, from general knowledge of English; `*` stands for any ending. */
const MEDICATION =
  'medicat* medicin* drug drugs dose doses dosage dosages dosing overdos* tablet* pill pills capsul* mg mcg ml milligram* microgram* inhaler* ' +
  'insulin antibiotic* painkiller* pain-killer* ibuprofen paracetamol acetaminophen aspirin metformin warfarin amoxicillin penicillin ' +
  'statin* prescription* prescrib* pharmac* refill* injection* injected vaccin* steroid* antidepressant* blood-thinner* ' +
  'side-effect* interact* contraindicat* allergic allergy allergies ointment* cream creams syrup* drops';
const CLINICAL =
  'pain* ache* aching fever* temperature bleed* blood vomit* nausea nauseous dizz* faint* rash* swell* swollen swelling cough* breath* ' +
  'wheez* chest headache* migraine* seizure* stroke* heart* pregnan* symptom* sick* infect* wound* burn* injur* fracture* broken ' +
  'numb* weak* confus* unconscious suicid* depress* anxi* diabet* asthma* cancer* covid flu diarrhoea diarrhea constipat* emergency ' +
  'test-result* diagnos* treat* surger* operation* scan scans x-ray* mri';
const NON_CLINICAL =
  'appointment* opening-hour* opening-time* open-on close-on parking park address directions bus train bill bills billing invoice* ' +
  'payment* pay insurance reception* website password log-in login register registration form forms letter* certificate* ' +
  'visiting-hour* wheelchair interpreter* complaint* feedback contact phone-number email';

function wordsOf(list: string): readonly string[] {
  return list.split(' ').map((word) => word.replaceAll('-', ' '));
}

/** What is asked about medicines is judged most strictly; a word of illness keeps a text from being taken for mere office matters. */
const CLINICAL_PRESET: Preset = {
  domains: {
    default: clinicalDomain('default', 0.91),
    medication: clinicalDomain('medication', 0.93),
    'non-clinical': clinicalDomain('non-clinical', 0.85),
  },
  rules: [
    { domain: 'medication', namespace: '*', model: '*', words: wordsOf(MEDICATION) },
    { domain: 'default', namespace: '*', model: '*', words: wordsOf(CLINICAL) },
    { domain: 'non-clinical', namespace: '*', model: '*', words: wordsOf(NON_CLINICAL) },
  ],
};

const NO_PRESET: Preset = { domains: {}, rules: [] };

/** The preset that the settings name. */
export function presetOf(settings: Settings): Preset {
  return settings.semantic.preset === 'clinical' ? CLINICAL_PRESET : NO_PRESET;
}

/** Every domain with its settings: what is configured for one of the preset wins where it says anything. */
export function domainSettings(settings: Settings): Readonly<Record<string, NamedDomainSettings>> {
  const domains: Record<string, NamedDomainSettings> = {
    default: DEFAULT_DOMAIN_SETTINGS,
    ...presetOf(settings).domains,
  };
  for (const [name, own] of Object.entries(settings.domains)) {
    const preset = presetOf(settings).domains[name];
    domains[name] = preset === undefined ? own : overlaid(preset, own);
  }
  return domains;
}

function overlaid(preset: NamedDomainSettings, own: DomainSettings): NamedDomainSettings {
  return {
    ...preset,
    ...own,
    calibration: own.calibration === 'auto' ? preset.calibration : own.calibration,
    uncalibrated: own.uncalibrated === 'auto' ? preset.uncalibrated : own.uncalibrated,
  };
}
