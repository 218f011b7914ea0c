/** What a customer buys together: the projects that deals are about, and smaller orders. */
export interface Solution {
  /** Names of deals; `#` becomes the number of units. */
  names: readonly string[];
  /** The customer's ask. */
  ask: string;
  /** Category of the deal. */
  category: string;
  units: Units;
  parts: readonly Part[];
}

/** What `#` counts: how many per employee (from, to), with a minimum and a maximum. */
interface Units {
  perEmployee: readonly [low: number, high: number];
  min: number;
  max: number;
}

export interface Part {
  /** Product category. */
  category: string;
  /** A text in the names of the products that fit. */
  text: string;
  /** Quantity for each unit, and once. */
  perUnit: number;
  once: number;
  recurring: boolean;
  /** In how many of the deals it is. */
  share: number;
}

const units = (low: number, high: number, min: number, max: number): Units => ({
  perEmployee: [low, high],
  min,
  max,
});

/**
 * Parts, separated by semicolons: "monthly 1 Office suites: Microsoft 365" is one for each unit, "once 2 Travel" two in
 * all; "maybe" is in half of the deals.
 */
const partsOf = (text: string): Part[] => text.split(';').map((entry) => partOf(entry.trim()));

const partForm = /^(maybe )?(monthly )?(once )?([\d.]+) ([^:]+)(?:: (.+))?$/;

function partOf(entry: string): Part {
  const found = partForm.exec(entry);
  if (!found) throw new Error(`Not a part: ${entry}`);
  const [, maybe, monthly, once, count, category = '', text = ''] = found;
  return {
    category,
    text,
    perUnit: once ? 0 : Number(count),
    once: once ? Number(count) : 0,
    recurring: monthly !== undefined,
    share: maybe ? 0.5 : 0.96,
  };
}

export const projects: readonly Solution[] = [
  {
    names: ['Microsoft 365 migration, # seats', 'Move to Microsoft 365, # users'],
    ask: 'Move # mailboxes off the old Exchange server by quarter end, keep shared calendars and train the front desk.',
    category: 'Cloud',
    units: units(0.4, 0.8, 4, 120),
    parts: partsOf(`
      monthly 1 Office suites: Microsoft 365; maybe monthly 1 Mail security;
      maybe monthly 0.3 Business applications; maybe monthly 0.2 Cloud backup;
      1 Migrations: Mailbox; maybe 1 Migrations: File share; 0.1 Engineering: System engineer;
      once 4 Engineering: Project manager; once 6 Engineering: Support technician;
      once 1 Assessments: Licence audit; once 2 Travel`),
  },
  {
    names: ['Firewall refresh, # sites', 'New firewalls for # sites'],
    ask: 'Current firewalls go end of support. Wants like-for-like at # sites with site-to-site VPN and a spare unit.',
    category: 'Security',
    units: units(0.015, 0.035, 2, 8),
    parts: partsOf(`
      1 Firewalls; maybe 1 Switches; maybe 1 UPS; 6 Patch cables;
      1 Onboarding: Network installation; 4 Engineering: Network engineer;
      once 3 Engineering: Project manager; once 1 Assessments: Security assessment;
      maybe monthly 3 Security operations: Log retention; monthly 1 Server care: Managed server;
      1 Travel`),
  },
  {
    names: ['Managed endpoint onboarding, # devices', 'Managed workplaces, # devices'],
    ask: 'Asked for a fixed monthly price per device for # laptops and desktops, patching and antivirus included.',
    category: 'Managed services',
    units: units(0.2, 0.6, 4, 90),
    parts: partsOf(`
      monthly 0.7 Endpoint care: Managed laptop; monthly 0.3 Endpoint care: Managed desktop;
      maybe monthly 1 Endpoint protection; maybe monthly 1 Remote management;
      maybe monthly once 1 Server care: Managed server; once 1 Onboarding: Onboarding;
      0.25 Engineering: Support technician; once 4 Engineering: Project manager;
      once 1 Assessments: Security assessment; once 2 Travel; maybe once 1 UPS`),
  },
  {
    names: ['Backup and recovery, # TB', 'Off-site backup, # TB'],
    ask: 'Failed a restore test last month. Needs # TB off site, daily, and somebody who checks that it worked.',
    category: 'Backup',
    units: units(0.06, 0.18, 2, 40),
    parts: partsOf(`
      monthly 1 Cloud storage; monthly once 3 Server backup;
      monthly once 1 Server care: Managed backup; maybe monthly 1 Cloud backup; once 1 Storage;
      maybe once 1 UPS; once 8 Engineering: System engineer; once 2 Engineering: Project manager;
      once 1 Assessments: Disaster recovery; once 4 Patch cables; once 1 Travel`),
  },
  {
    names: [
      'Wi-Fi survey and rollout, # access points',
      'Wireless for the warehouse, # access points',
    ],
    ask: 'Dead spots in the warehouse and on the upper floor. Wants a survey first, then # access points before peak season.',
    category: 'Networking',
    units: units(0.05, 0.12, 4, 36),
    parts: partsOf(`
      1 Access points; 0.06 Switches; 2 Patch cables; maybe once 1 Firewalls; maybe once 1 UPS;
      once 1 Assessments: Wi-Fi survey; once 1 Onboarding: Network installation;
      0.6 Engineering: Network engineer; once 2 Engineering: Project manager;
      maybe monthly once 1 Server care: Managed server; once 2 Travel`),
  },
  {
    names: ['Laptop refresh, # units', 'Workplace refresh, # laptops'],
    ask: 'Lease ends in spring. # business laptops, docks and monitors, imaged and delivered to the desks.',
    category: 'Hardware refresh',
    units: units(0.12, 0.4, 3, 60),
    parts: partsOf(`
      1 Laptops; 1 Docks; 1 Monitors; maybe 1 Headsets; maybe 0.1 Desktops; 2 Patch cables;
      maybe monthly 1 Endpoint protection; maybe monthly 1 Endpoint care: Managed laptop;
      once 1 Onboarding: Workstation imaging; 0.4 Engineering: Support technician; once 1 Travel`),
  },
  {
    names: ['Server consolidation, # hosts', 'New cluster, # hosts'],
    ask: 'Ageing servers to become one cluster of # hosts. Downtime only on a Sunday.',
    category: 'Projects',
    units: units(0.008, 0.02, 2, 4),
    parts: partsOf(`
      1 Rack servers; once 1 Storage; 0.5 UPS; maybe once 1 Racks; once 1 Switches; 6 Patch cables;
      8 Engineering: System engineer; once 6 Engineering: Project manager;
      maybe monthly 2 Server backup; monthly 1 Server care: Managed hypervisor; once 2 Travel`),
  },
  {
    names: ['Security awareness and MFA, # users', 'Phishing tests and MFA, # users'],
    ask: 'Cyber insurance asks for MFA for # users, phishing tests and a written policy before renewal.',
    category: 'Security',
    units: units(0.5, 1, 6, 150),
    parts: partsOf(`
      monthly 1 Security operations: Phishing simulation; maybe monthly 1 Mail security;
      maybe monthly 0.2 Security operations: Log retention; once 1 Assessments: Security assessment;
      once 8 Engineering: Security consultant; 0.15 Engineering: Support technician;
      once 3 Engineering: Project manager; once 1 Onboarding: Onboarding; maybe 0.1 Headsets;
      once 1 Assessments: Licence audit; once 1 Travel`),
  },
  {
    names: ['VoIP replacement, # handsets', 'New telephone system, # handsets'],
    ask: 'Old PBX is failing. # handsets, call queues, keep the main numbers, and the receptionist needs a console.',
    category: 'Projects',
    units: units(0.35, 0.8, 5, 90),
    parts: partsOf(`
      monthly 1 Telephony; 1 Telephones; 0.3 Headsets; 0.04 Switches; 1 Patch cables;
      1 Migrations: Telephone number; 0.2 Engineering: Network engineer;
      once 3 Engineering: Project manager; once 1 Onboarding: Onboarding; maybe once 1 UPS;
      once 2 Travel`),
  },
  {
    names: ['Co-managed IT agreement, # users', 'Second-level support, # users'],
    ask: 'One internal admin is leaving. Looking for second-level support for # users, on site two days a month.',
    category: 'Managed services',
    units: units(0.2, 0.5, 5, 75),
    parts: partsOf(`
      monthly 0.8 Endpoint care: Managed laptop; maybe monthly 1 Remote management;
      maybe monthly 0.5 Security operations: Vulnerability;
      monthly once 2 Server care: Managed server; maybe monthly once 1 Server care: Managed domain;
      once 1 Onboarding: Onboarding; once 1 Assessments: Security assessment;
      once 1 Assessments: Licence audit; once 6 Engineering: Architect;
      once 4 Engineering: Project manager; once 2 Travel`),
  },
  {
    names: ['Print fleet contract, # devices', 'Printers and service, # devices'],
    ask: 'Cost per page too high. # devices, toner included, secure release with badges.',
    category: 'Hardware refresh',
    units: units(0.04, 0.09, 3, 28),
    parts: partsOf(`
      1 Laser printers; maybe 0.3 Label printers; 1 Patch cables;
      monthly 1 Endpoint care: Managed printer; maybe monthly once 1 Server care: Managed server;
      once 1 Onboarding: Onboarding; 0.5 Engineering: Support technician;
      once 2 Engineering: Project manager; maybe once 1 Switches; once 1 Assessments: Licence audit;
      once 2 Travel`),
  },
  {
    names: ['Azure landing zone, # servers', 'Servers to Azure, # machines'],
    ask: 'Wants to move # line-of-business servers to the cloud, with budget alerts and a cost estimate per month.',
    category: 'Cloud',
    units: units(0.02, 0.06, 2, 14),
    parts: partsOf(`
      monthly 1 Compute; monthly 1 Cloud storage; monthly 1 Server care: Managed server;
      maybe monthly 1 Server backup; maybe monthly 2 Security operations: Log retention;
      once 1 Assessments: Security assessment; once 1 Assessments: Disaster recovery;
      3 Engineering: Architect; once 8 Engineering: System engineer;
      once 4 Engineering: Project manager; maybe once 1 Firewalls`),
  },
  {
    names: ['Door access and cameras, # doors', 'Cameras and badge readers, # doors'],
    ask: 'New site opens soon: # doors, cameras at the entrances, thirty days of recording.',
    category: 'Projects',
    units: units(0.03, 0.09, 2, 20),
    parts: partsOf(`
      1 Door readers; 1.3 Cameras; once 1 Switches; once 1 Storage; maybe once 1 UPS;
      3 Patch cables; once 1 Onboarding: Network installation; 2 Engineering: Network engineer;
      once 3 Engineering: Project manager; maybe monthly once 1 Server care: Managed server;
      once 3 Travel`),
  },
  {
    names: ['Compliance gap assessment, # findings', 'Audit follow-up, # findings'],
    ask: 'Auditor gave them # findings. Needs a plan with prices for each finding, the cheap ones first.',
    category: 'Security',
    units: units(0.1, 0.6, 5, 40),
    parts: partsOf(`
      once 1 Assessments: Security assessment; once 1 Assessments: Disaster recovery;
      maybe once 1 Assessments: Licence audit; 0.7 Engineering: Security consultant;
      0.3 Engineering: System engineer; once 4 Engineering: Project manager;
      maybe monthly 1 Security operations: Vulnerability;
      maybe monthly 0.5 Security operations: Log retention; maybe once 1 Firewalls;
      once 1 Onboarding: Onboarding; once 2 Travel`),
  },
  {
    names: ['Network cabling, # drops', 'Cabling for the new office, # drops'],
    ask: 'Office move: # drops, two racks, labelled and certified, before the furniture arrives.',
    category: 'Networking',
    units: units(0.4, 1, 10, 160),
    parts: partsOf(`
      2 Patch cables; once 2 Racks; 0.03 Switches; maybe 0.03 UPS;
      0.35 Engineering: Network engineer; 0.15 Engineering: Support technician;
      once 4 Engineering: Project manager; once 1 Onboarding: Cabling certification;
      maybe 0.04 Access points; maybe once 1 Assessments: Wi-Fi survey; once 4 Travel`),
  },
  {
    names: [
      'Managed detection and response, # endpoints',
      'Round-the-clock monitoring, # endpoints',
    ],
    ask: 'Board wants round-the-clock monitoring on # endpoints after an incident at a supplier.',
    category: 'Security',
    units: units(0.5, 0.9, 6, 130),
    parts: partsOf(`
      monthly 1 Security operations: Managed detection; maybe monthly 1 Endpoint protection;
      maybe monthly 0.3 Security operations: Vulnerability; once 1 Onboarding: Onboarding;
      once 1 Assessments: Security assessment; once 10 Engineering: Security consultant;
      0.1 Engineering: Support technician; once 4 Engineering: Project manager;
      maybe once 1 Assessments: Disaster recovery; maybe once 1 Firewalls; once 1 Travel`),
  },
];

const small = units(0.05, 0.2, 1, 25);

const order = (name: string, size: Units, parts: string): Solution => ({
  names: [name],
  ask: '',
  category: '',
  units: size,
  parts: partsOf(parts),
});

/** Quotes without a deal. */
export const orders: readonly Solution[] = [
  order(
    'Workstations',
    small,
    `1 Desktops; 2 Monitors; 1 Headsets; 2 Patch cables; maybe 0.5 Label printers;
    maybe 0.2 Workstations; once 1 Onboarding: Workstation imaging;
    0.5 Engineering: Support technician; once 1 Travel`,
  ),
  order(
    'New starters',
    small,
    `1 Laptops; 1 Docks; 1 Monitors; 1 Headsets; 1 Starter kits;
    monthly 1 Office suites: Microsoft 365; monthly 1 Endpoint protection;
    0.5 Engineering: Support technician`,
  ),
  order(
    'Licence renewal',
    units(0.3, 0.9, 4, 80),
    `monthly 1 Office suites; maybe monthly 1 Mail security; maybe monthly 0.5 Endpoint protection;
    monthly 0.2 Business applications; maybe monthly 0.1 Design tools;
    maybe monthly 0.3 Cloud backup; once 1 Assessments: Licence audit;
    once 2 Engineering: Support technician`,
  ),
  order(
    'Conference room',
    units(0.01, 0.03, 1, 4),
    `2 Monitors; 4 Headsets; 1 Docks; 1 Access points; 6 Patch cables; 1 UPS;
    5 Engineering: System engineer; once 1 Travel`,
  ),
  order(
    'Network spares',
    units(0.01, 0.04, 1, 6),
    `1 Switches; 1 Access points; maybe 1 Firewalls; 10 Patch cables; maybe 1 UPS;
    2 Engineering: Network engineer; once 1 Onboarding: Network installation; once 1 Travel`,
  ),
  order(
    'Printers and labels',
    units(0.02, 0.06, 1, 8),
    `1 Laser printers; 0.5 Label printers; 2 Patch cables;
    maybe monthly 1 Endpoint care: Managed printer; 1 Engineering: Support technician;
    once 1 Onboarding: Onboarding; once 1 Travel`,
  ),
  order(
    'Branch office',
    units(0.004, 0.012, 1, 3),
    `1 Branch offices; 1 Racks; 12 Patch cables; 1 Onboarding: Network installation;
    8 Engineering: Network engineer; monthly 1 Server care: Managed server; once 2 Travel`,
  ),
];
