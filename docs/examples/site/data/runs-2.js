unixmark.runs([["28ef3306e65ddd8b001783f95ab27fc9","vm","vm","2026-11-25","1f333116a70eef8144b0fdd6957e52bd","AMD EPYC, 2 CPUs, Debian GNU/Linux 12 (bookworm)",[1,3,2,1],[]]]);
