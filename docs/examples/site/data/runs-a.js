unixmark.runs([["af16a412a5e12639","af16a412a5e12639","a machine without a name","","d1bf7f01","0 CPUs",[],[]]]);
