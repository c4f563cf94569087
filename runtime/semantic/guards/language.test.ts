import { describe, expect, it } from 'vitest';
import { extractFeatures } from '../features.ts';
import { GUARD_NAMES, unknownTo } from './guards.ts';

describe('language', () => {
  it.each([
    ['How do I reset my password?', 'en'],
    ['reset password', 'en'],
    ['train journey time from station', 'en'],
    ['Wie kann ich mein Passwort zurücksetzen?', 'de'],
    ['Wann kommt die Bestellung bei mir an?', 'de'],
    ['¿Cómo puedo restablecer mi contraseña?', 'es'],
    ['¿Dónde está la farmacia más cercana?', 'es'],
    ['Comment puis-je annuler ma commande ?', 'fr'],
    ['我怎么重置密码？', 'script'],
    ['儿童可以服用布洛芬吗', 'script'],
    ['Как сбросить пароль?', 'script'],
  ])('of "%s" is %s', (text, language) => {
    expect(extractFeatures(text).language).toBe(language);
  });

  it.each(['Ist es sicher, mit dem Fahrrad zu fahren?', '¿Es seguro conducir de noche?', '我可以喝酒吗？'])(
    'guards that read words say that they do not know it: %s',
    (text) => {
      const unknown = unknownTo(GUARD_NAMES, extractFeatures(text));
      expect(unknown).toContain('negation');
      expect(unknown).toContain('antonyms');
      expect(unknown).toContain('entities');
      expect(unknown).not.toContain('numbers');
      expect(unknown).not.toContain('language');
    },
  );

  it('English is known to all, and a guard that is off says nothing', () => {
    expect(unknownTo(GUARD_NAMES, extractFeatures('Is it safe to drive at night?'))).toEqual([]);
    expect(unknownTo(['numbers'], extractFeatures('我可以喝酒吗？'))).toEqual([]);
  });
});
