import type { Family } from './demo-family.ts';
import { MORE_FAMILIES } from './demo-questions-more.ts';

const FIRST_FAMILIES: readonly Family[] = [
  {
    domain: 'accounts',
    question: 'How do I reset my password?',
    rephrasings: [
      'how can I reset my password',
      'I need to reset my password. How do I do that?',
      'How to reset a password?',
    ],
    traps: [
      ['scope', 'How do I reset all passwords?'],
      ['negation', 'Why can I not reset my password?'],
    ],
  },
  {
    domain: 'accounts',
    question: 'How do I turn on two-factor authentication?',
    rephrasings: [
      'how can I turn on two factor authentication?',
      'Please tell me how to turn on two-factor authentication.',
    ],
    traps: [['opposite', 'How do I turn off two-factor authentication?']],
  },
  {
    domain: 'accounts',
    question: 'How do I change the email address of my account?',
    rephrasings: ["How can I change my account's email address?", 'How to change the email address of an account?'],
    traps: [
      ['name', 'How do I change the postal address of my account?'],
      ['question', 'When did I change the email address of my account?'],
    ],
  },
  {
    domain: 'accounts',
    question: 'Can I merge two accounts into one?',
    rephrasings: ['Is it possible to merge two accounts into one?', 'can i merge two accounts into one please'],
    traps: [
      ['number', 'Can I merge three accounts into one?'],
      ['opposite', 'Can I split one account into two?'],
    ],
  },
  {
    domain: 'banking',
    question: 'What is the fee for a transfer of 100 euros?',
    rephrasings: ['What is the fee for transferring 100 euros?', "What's the transfer fee for 100 euros?"],
    traps: [
      ['number', 'What is the fee for a transfer of 1,000 euros?'],
      ['name', 'What is the fee for a transfer of 100 dollars?'],
    ],
  },
  {
    domain: 'banking',
    question: 'How do I convert euros to dollars in the app?',
    rephrasings: ['How can I convert euros to dollars in the app?', 'In the app, how do I convert euros to dollars?'],
    traps: [['roles', 'How do I convert dollars to euros in the app?']],
  },
  {
    domain: 'banking',
    question: 'Why was my card payment declined?',
    rephrasings: ['why was the payment with my card declined?', 'My card payment was declined. Why?'],
    traps: [
      ['opposite', 'Why was my card payment accepted?'],
      ['negation', 'Why was my card payment not declined?'],
    ],
  },
  {
    domain: 'banking',
    question: 'How long does a transfer to another bank take?',
    rephrasings: [
      'How long will a transfer to another bank take?',
      'A transfer to another bank: how long does it take?',
    ],
    traps: [['roles', 'How long does a transfer from another bank take?']],
  },
  {
    domain: 'banking',
    question: 'My card was stolen. What should I do?',
    rephrasings: ['What should I do if my card was stolen?', 'What do I have to do when my card was stolen?'],
    traps: [['name', 'My phone was stolen. What should I do?']],
  },
  {
    domain: 'shop',
    question: 'Can I return shoes that I have worn?',
    rephrasings: ['Can I return worn shoes?', 'I have worn the shoes. Can I return them?'],
    traps: [
      ['negation', 'Can I return shoes that I have not worn?'],
      ['name', 'Can I return socks that I have worn?'],
    ],
  },
  {
    domain: 'shop',
    question: 'When will my order arrive?',
    rephrasings: [
      'When does my order arrive?',
      'when will my order be arriving',
      'Could you tell me when my order will arrive?',
    ],
    traps: [
      ['negation', 'Why will my order not arrive?'],
      ['question', 'Where will my order arrive?'],
    ],
  },
  {
    domain: 'shop',
    question: 'Do you ship to Norway?',
    rephrasings: ['do you ship to Norway', 'Can you ship to Norway?', 'Will you ship to Norway?'],
    traps: [
      ['name', 'Do you ship to Sweden?'],
      ['roles', 'Do you ship from Norway?'],
    ],
  },
  {
    domain: 'shop',
    question: 'How do I cancel order 48213?',
    rephrasings: ['How can I cancel order 48213?', 'I want to cancel order 48213. How do I do that?'],
    traps: [
      ['number', 'How do I cancel order 48231?'],
      ['opposite', 'How do I confirm order 48213?'],
    ],
  },
  {
    domain: 'shop',
    question: 'Is the blue jacket available in size 42?',
    rephrasings: ['Is the blue jacket available in 42?', 'is the blue jacket in size 42 available?'],
    traps: [
      ['name', 'Is the black jacket available in size 42?'],
      ['number', 'Is the blue jacket available in size 44?'],
    ],
  },
  {
    domain: 'travel',
    question: 'How long is the flight from Lisbon to Oslo?',
    rephrasings: [
      'How long does the flight from Lisbon to Oslo take?',
      'The flight from Lisbon to Oslo, how long is it?',
    ],
    traps: [
      ['roles', 'How long is the flight from Oslo to Lisbon?'],
      ['name', 'How long is the flight from Lisbon to Rome?'],
    ],
  },
  {
    domain: 'travel',
    question: 'Do I need a visa for a stay of 30 days in Japan?',
    rephrasings: [
      'Do I need a visa to stay in Japan for 30 days?',
      'For a stay of 30 days in Japan, do I need a visa?',
    ],
    traps: [
      ['number', 'Do I need a visa for a stay of 90 days in Japan?'],
      ['name', 'Do I need a visa for a stay of 30 days in China?'],
    ],
  },
  {
    domain: 'travel',
    question: 'Is breakfast included in the room price?',
    rephrasings: ['Does the room price include breakfast?', 'is breakfast included in the price of the room?'],
    traps: [
      ['name', 'Is dinner included in the room price?'],
      ['negation', 'Is breakfast not included in the room price?'],
    ],
  },
  {
    domain: 'travel',
    question: 'May I take scissors in my hand luggage?',
    rephrasings: ['Can I take scissors in my hand luggage?', 'Are scissors allowed in my hand luggage?'],
    traps: [
      ['opposite', 'May I take scissors in my checked luggage?'],
      ['name', 'May I take batteries in my hand luggage?'],
    ],
  },
  {
    domain: 'travel',
    question: 'Which train goes from the airport to the city centre?',
    rephrasings: [
      'Which train can I take from the airport to the city centre?',
      'what train goes from the airport to the city centre',
    ],
    traps: [
      ['roles', 'Which train goes from the city centre to the airport?'],
      ['name', 'Which bus goes from the airport to the city centre?'],
    ],
  },
  {
    domain: 'cooking',
    question: 'How long do I boil an egg for a soft yolk?',
    rephrasings: ['For a soft yolk, how long do I boil an egg?', 'How long should I boil an egg for a soft yolk?'],
    traps: [['opposite', 'How long do I boil an egg for a hard yolk?']],
  },
];

/** All families, in a fixed order. */
export const FAMILIES: readonly Family[] = [...FIRST_FAMILIES, ...MORE_FAMILIES];
