unixmark.values("C",{"fac11088359194c4":[[1408.09,1341.32,1472.14],null,[1491.78,1426.65,1559.89],null],"fe70163cb3370206":[[13.5,null,null],null,null,null]});
